"use strict";
// Serves a bot to the referee over gRPC, from the .proto alone: one call of Play is one game.

// An author is shown the last ten lines of the log: an error and where it was raised fit into these.
Error.stackTraceLimit = 6;

const fs = require("node:fs");
const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const protoLoader = require("@grpc/proto-loader");

const PROTOCOL = 1;

const { Bot } = grpc.loadPackageDefinition(
    protoLoader.loadSync("treelings/v1/bot.proto", {
        includeDirs: [path.join(__dirname, "proto")],
        defaults: true, // what is 0, false or empty is not sent
        enums: String,
        oneofs: true, // `message` names the one that is set: "start", "query", "end"
    }),
).treelings.v1;

/** Serve until the process is ended. `newBot(start)` makes a bot for a game; its `choose(query)` returns a move. */
function serve(newBot) {
    const { TREELINGS_SOCKET: socket, TREELINGS_LISTEN: listen } = process.env;
    if (!socket && !listen) {
        console.error("this is run by the referee; to try it: treelings match FOLDER random --trust-bots");
        process.exit(1);
    }
    const server = new grpc.Server();
    server.addService(Bot.service, { Play: (call) => play(call, newBot) });
    server.bindAsync(listen || `unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
        if (error) throw error;
        if (!listen) fs.chmodSync(socket, 0o666); // the referee may be another user
    });
}

// What is thrown in here ends the process with a trace in its log: the game is lost, and the next one starts it anew.
function play(call, newBot) {
    let bot;
    call.on("data", ({ message, start, query }) => {
        if (message === "start" && !bot) {
            bot = newBot(start);
            call.write({ ready: { protocol: PROTOCOL } });
        } else if (message === "query" && bot) {
            call.write({ reply: { turn: query.turn, move: bot.choose(query) } });
        } else if (message !== "end") {
            const details = `expected ${bot ? "a query or end" : "start"}, got ${message || "an empty message"}`;
            call.emit("error", { code: grpc.status.INVALID_ARGUMENT, details });
        }
    });
    call.on("end", () => call.end());
}

module.exports = { serve };
