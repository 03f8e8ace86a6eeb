"use strict";
// The table as a seat sees it, what a move does to it, and what it is worth: the rules, as far as `choose` asks.

const GUILDS = "ROYGBP"; // guild 0 is R

/** The rows of a query, from seat 0: each a list of columns {guild, height}, from left to right. */
function rowsOf(query) {
    let at = 0;
    return query.rowSizes.map((size) => {
        const row = [];
        for (const end = at + size; at < end; at++) row.push({ guild: query.guilds[at], height: query.heights[at] });
        return row;
    });
}

/** The row after a move such as "R", "R<R", "*<BP>G" or "-": what it takes from the market grows or joins the row. */
function afterMove(row, market, move) {
    const [, take, left = "", right = ""] = /^(.)(?:<(\w+))?(?:>(\w+))?$/.exec(move);
    const taken = market.map((count, guild) => {
        if (take === "*") return count === 1 ? 1 : 0;
        return GUILDS[guild] === take ? count : 0;
    });
    const grown = row.map(({ guild, height }) => ({ guild, height: height + taken[guild] }));
    const column = (letter) => ({ guild: GUILDS.indexOf(letter), height: taken[GUILDS.indexOf(letter)] });
    for (const letter of left) grown.unshift(column(letter));
    for (const letter of right) grown.push(column(letter));
    return grown;
}

/** Points of each seat: a column scores its height unless a neighbour in the ring of all columns is taller. */
function scoresOf(rows) {
    const ring = rows.flatMap((row, seat) => row.map(({ height }) => ({ seat, height })));
    const scores = rows.map(() => 0);
    ring.forEach(({ seat, height }, at) => {
        const before = ring[(at + ring.length - 1) % ring.length].height;
        const after = ring[(at + 1) % ring.length].height;
        if (height >= before && height >= after) scores[seat] += height;
    });
    return scores;
}

module.exports = { afterMove, rowsOf, scoresOf };
