// The bot @NAME@: `choose` is the method to write, and it plays already.
#include <limits>
#include <numeric>

#include "treelings.h"

class Bot {
   public:
    explicit Bot(const treelings::Start& start) : seat_(start.seat()) {}

    /// One of query.legal(), within query.limit_ms() milliseconds: here the one that leaves it furthest ahead.
    std::string choose(const treelings::Query& query) const {
        auto rows = treelings::rows_of(query);
        const auto row = rows[seat_];
        std::string best;
        double most = -std::numeric_limits<double>::infinity();
        for (const std::string& move : query.legal()) {
            rows[seat_] = treelings::after_move(row, query, move);
            if (const double worth = this->worth(rows); worth > most) {
                most = worth;
                best = move;
            }
        }
        return best;
    }

   private:
    /// Own points less the mean of the others', if the game ended here; a card is worth a little where it scores not.
    double worth(const std::vector<treelings::Row>& rows) const {
        const auto scores = treelings::scores_of(rows);
        const double others = std::accumulate(scores.begin(), scores.end(), 0) - scores[seat_];
        double cards = 0;
        for (const auto& column : rows[seat_]) cards += column.height;
        return scores[seat_] - others / (rows.size() - 1) + cards / 1000;
    }

    unsigned seat_;
};

int main() { return treelings::serve<Bot>(); }
