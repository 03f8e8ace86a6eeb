// What a bot needs besides its own idea: the table as its seat sees it, what a move does to it, and the server.
#pragma once

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "treelings/v1/bot.grpc.pb.h"

namespace treelings {

using v1::Query;
using v1::Start;

struct Column {
    int guild;  // 0 to 5, in the order of GUILDS
    int height;
};
using Row = std::vector<Column>;  // from left to right

inline const std::string GUILDS = "ROYGBP";

/// The rows of a query, from seat 0.
inline std::vector<Row> rows_of(const Query& query) {
    std::vector<Row> rows;
    int at = 0;
    for (int size : query.row_sizes()) {
        Row row;
        for (int end = at + size; at < end; ++at)
            row.push_back({static_cast<int>(query.guilds(at)), static_cast<int>(query.heights(at))});
        rows.push_back(row);
    }
    return rows;
}

/// The row after a move such as "R", "R<R", "*<BP>G" or "-": what it takes from the market grows or joins the row.
inline Row after_move(Row row, const Query& query, const std::string& move) {
    const auto taken = [&](int guild) {
        const int count = query.market(guild);
        if (move[0] == '*') return count == 1 ? 1 : 0;
        return move[0] == GUILDS[guild] ? count : 0;
    };
    for (Column& column : row) column.height += taken(column.guild);
    char side = ' ';
    for (char letter : move.substr(1)) {
        if (letter == '<' || letter == '>') {
            side = letter;
            continue;
        }
        const int guild = static_cast<int>(GUILDS.find(letter));
        row.insert(side == '<' ? row.begin() : row.end(), Column{guild, taken(guild)});
    }
    return row;
}

/// Points of each seat: a column scores its height unless a neighbour in the ring of all columns is taller.
inline std::vector<int> scores_of(const std::vector<Row>& rows) {
    std::vector<int> heights, seats, scores(rows.size());
    for (size_t seat = 0; seat < rows.size(); ++seat)
        for (const Column& column : rows[seat]) {
            heights.push_back(column.height);
            seats.push_back(static_cast<int>(seat));
        }
    const size_t count = heights.size();
    for (size_t at = 0; at < count; ++at)
        if (heights[at] >= heights[(at + count - 1) % count] && heights[at] >= heights[(at + 1) % count])
            scores[seats[at]] += heights[at];
    return scores;
}

/// Serve the referee until the process is ended; `Bot` is made from a game's Start, and its `choose` returns a move.
template <typename Bot>
int serve() {
    struct Service final : v1::Bot::Service {
        grpc::Status Play(grpc::ServerContext*,
                          grpc::ServerReaderWriter<v1::BotMessage, v1::RefereeMessage>* stream) override {
            v1::RefereeMessage message;
            if (!stream->Read(&message) || !message.has_start()) return grpc::Status::CANCELLED;
            Bot bot(message.start());
            v1::BotMessage answer;
            answer.mutable_ready()->set_protocol(1);
            stream->Write(answer);
            while (stream->Read(&message)) {
                if (!message.has_query()) continue;  // the end of the game, which nothing answers
                answer.mutable_reply()->set_turn(message.query().turn());
                answer.mutable_reply()->set_move(bot.choose(message.query()));
                stream->Write(answer);
            }
            return grpc::Status::OK;
        }
    };
    const char* socket = std::getenv("TREELINGS_SOCKET");
    const char* listen = std::getenv("TREELINGS_LISTEN");
    if (!socket && !listen) {
        std::cerr << "this is run by the referee; to try it: treelings match FOLDER random\n";
        return 1;
    }
    Service service;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(listen ? listen : std::string("unix:") + socket, grpc::InsecureServerCredentials());
    // No pings: a bot that is held before it has read the answer would take the referee for gone.
    builder.AddChannelArgument("grpc.http2.bdp_probe", 0);
    builder.AddChannelArgument("grpc.keepalive_time_ms", INT_MAX);
    builder.RegisterService(&service);
    const auto server = builder.BuildAndStart();
    if (!server) return 1;
    if (!listen) chmod(socket, 0666);  // the referee may be another user
    server->Wait();
    return 0;
}

}  // namespace treelings
