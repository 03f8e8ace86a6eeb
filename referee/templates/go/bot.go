// The bot @NAME@: Choose is the method to write, and it plays already.
package main

import (
	"math"

	v1 "bot/treelings/v1"
)

type bot struct{ seat int }

// Choose returns one of query.Legal, within query.LimitMs milliseconds: here the one that leaves it furthest ahead.
func (b bot) Choose(query *v1.Query) string {
	rows := rowsOf(query)
	row := rows[b.seat]
	best, most := "", math.Inf(-1)
	for _, move := range query.Legal {
		rows[b.seat] = afterMove(row, query.Market, move)
		if worth := b.worth(rows); worth > most {
			best, most = move, worth
		}
	}
	return best
}

// worth is its points less the mean of the others', if the game ended here; a card is worth a little where it scores not.
func (b bot) worth(rows []Row) float64 {
	others, cards := 0, 0
	scores := scoresOf(rows)
	for seat, score := range scores {
		if seat != b.seat {
			others += score
		}
	}
	for _, column := range rows[b.seat] {
		cards += column.Height
	}
	return float64(scores[b.seat]) - float64(others)/float64(len(rows)-1) + float64(cards)/1000
}

func main() {
	serve(func(start *v1.Start) Player { return bot{int(start.Seat)} })
}
