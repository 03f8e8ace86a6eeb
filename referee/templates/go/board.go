package main

import (
	"strings"

	v1 "bot/treelings/v1"
)

// Guilds are the letters of guilds 0 to 5.
const Guilds = "ROYGBP"

// Column is one column of a row.
type Column struct{ Guild, Height int }

// Row is a seat's columns, from left to right.
type Row []Column

// rowsOf gives the rows of a query, from seat 0.
func rowsOf(query *v1.Query) []Row {
	rows := []Row{}
	at := 0
	for _, size := range query.RowSizes {
		row := Row{}
		for end := at + int(size); at < end; at++ {
			row = append(row, Column{int(query.Guilds[at]), int(query.Heights[at])})
		}
		rows = append(rows, row)
	}
	return rows
}

// afterMove gives the row after a move such as "R", "R<R", "*<BP>G" or "-": what it takes grows or joins the row.
func afterMove(row Row, market []uint32, move string) Row {
	taken := func(guild int) int {
		count := int(market[guild])
		if move[0] == '*' && count == 1 || move[0] == Guilds[guild] {
			return count
		}
		return 0
	}
	after := Row{}
	for _, column := range row {
		after = append(after, Column{column.Guild, column.Height + taken(column.Guild)})
	}
	side := ' '
	for _, letter := range move[1:] {
		if letter == '<' || letter == '>' {
			side = letter
			continue
		}
		guild := strings.IndexRune(Guilds, letter)
		column := Column{guild, taken(guild)}
		if side == '<' {
			after = append(Row{column}, after...)
		} else {
			after = append(after, column)
		}
	}
	return after
}

// scoresOf gives the points of each seat: a column scores its height unless a neighbour in the ring of all is taller.
func scoresOf(rows []Row) []int {
	heights, seats, scores := []int{}, []int{}, make([]int, len(rows))
	for seat, row := range rows {
		for _, column := range row {
			heights, seats = append(heights, column.Height), append(seats, seat)
		}
	}
	count := len(heights)
	for at, height := range heights {
		if height >= heights[(at+count-1)%count] && height >= heights[(at+1)%count] {
			scores[seats[at]] += height
		}
	}
	return scores
}
