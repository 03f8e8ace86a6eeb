"use strict";
// `choose` is the method to write. As it is, it takes the move that leaves it furthest ahead, then the most cards.

const { afterMove, rowsOf, scoresOf } = require("./board.js");
const { serve } = require("./treelings.js");

class GreedyBot {
    constructor(start) {
        this.seat = start.seat;
    }

    choose(query) {
        const rows = rowsOf(query);
        let best = { move: "", worth: -Infinity };
        for (const move of query.legal) {
            const after = [...rows];
            after[this.seat] = afterMove(rows[this.seat], query.market, move);
            const worth = this.worth(after);
            if (worth > best.worth) best = { move, worth };
        }
        return best.move;
    }

    /** Own points less the mean of the others', if the game ended here; a card is worth a little where it scores not. */
    worth(rows) {
        const scores = scoresOf(rows);
        const own = scores[this.seat];
        const others = scores.reduce((sum, score) => sum + score, 0) - own;
        const cards = rows[this.seat].reduce((sum, { height }) => sum + height, 0);
        return own - others / (rows.length - 1) + cards / 1000;
    }
}

serve((start) => new GreedyBot(start));
