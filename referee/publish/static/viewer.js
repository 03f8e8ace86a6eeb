"use strict";
/* Replays the games of a match's page from their decks and moves (docs/spec/rules.md). No library, no requests. */
(() => {
  const GUILDS = { R: "red", O: "orange", Y: "yellow", G: "green", B: "blue", P: "purple" };
  const ORDER = Object.keys(GUILDS).join("");
  const HAND = 3;
  const MARKET = 5;
  const TURN_MS = 1000;
  const LINK_MS = 400; // browsers refuse to write the address too often

  /* The rules: every position of a game, from the deal to its end, one more than there are moves.

     rows     per seat its columns from left to right, each {guild, height, fresh: cards of the turn before, scores}
     market   letters in the order of guilds
     pile     guild cards that lie face down; above: how many of them lie above the firefly
     firefly  turn in which it showed up, or -1 */
  function positions(game, deck) {
    const players = game.seats.length;
    const moves = game.moves ? game.moves.split(" ") : [];
    const rows = [];
    for (let seat = 0; seat < players; seat++) {
      rows.push(grown([], deck.slice(seat * HAND, seat * HAND + HAND), "", ""));
    }
    let at = players * HAND + MARKET;
    let market = [...deck.slice(players * HAND, at)];
    let firefly = -1;
    const refill = turn => {
      while (market.length < MARKET && at < deck.length) {
        const card = deck[at++];
        if (card === "!") firefly = turn;
        else market.push(card);
      }
    };
    const all = [];
    const keep = () => all.push(position(all.length, rows, market, deck.slice(at), firefly, moves[all.length]));
    keep();
    for (const [turn, move] of moves.entries()) {
      const [left, right] = ends(move);
      const taken = take(market, move[0]);
      market = market.filter(card => !taken.includes(card));
      rows[turn % players] = grown(rows[turn % players], taken, left, right);
      if (game.refill === "end") refill(turn);
      const over = (turn + 1) % players === 0 && firefly >= 0;
      if (game.refill === "start" && !over) refill(turn + 1);
      keep();
    }
    return all;
  }

  const count = (cards, guild) => cards.filter(card => card === guild).length;
  const take = (market, what) => market.filter(card => what === "*" ? count(market, card) === 1 : card === what);

  /* The guilds that a move puts to the left and to the right, in the order in which they are placed. */
  const ends = move => ["<", ">"].map(end => (move.match(`${end}(\\w+)`) || ["", ""])[1]);

  /* A row after it was given cards; new guilds that are neither behind < nor > are those of the deal. */
  function grown(row, cards, left, right) {
    const fresh = new Set([...cards].filter(guild => !row.some(column => column.guild === guild)));
    const inner = [...fresh].filter(guild => !left.includes(guild) && !right.includes(guild));
    const order = [...[...left].reverse(), ...row.map(column => column.guild), ...inner, ...right];
    return order.map(guild => {
      const before = row.find(column => column.guild === guild);
      const more = count([...cards], guild);
      return { guild, height: (before ? before.height : 0) + more, fresh: more };
    });
  }

  function position(turn, rows, market, pile, firefly, move) {
    const players = rows.length;
    const mover = turn ? (turn - 1) % players : -1; // of the turn before
    const shown = rows.map((row, seat) => row.map(
      column => ({ ...column, fresh: seat === mover ? column.fresh : 0 })));
    const ring = shown.flatMap(row => [...row].reverse()); // the next seat sits on the left
    ring.forEach((column, i) => {
      const beside = [ring[(i || ring.length) - 1], ring[(i + 1) % ring.length]];
      column.scores = beside.every(other => column.height >= other.height);
    });
    return {
      turn, seat: turn % players, rows: shown, move,
      market: [...market].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
      taken: move ? take(market, move[0]) : [],
      pile: pile.length - (firefly < 0 ? 1 : 0),
      above: Math.max(0, pile.indexOf("!")),
      firefly,
      points: shown.map(row => row.reduce((sum, column) => sum + (column.scores ? column.height : 0), 0)),
    };
  }

  /* Words. */
  const time = ms => ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`;
  const listed = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

  function told(position) {
    if (position.move === "-") return "passes: the market is empty";
    const [left, right] = ends(position.move);
    const cards = [...new Set(position.taken)].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
    const taken = listed(cards.map(guild => `${count(position.taken, guild)} ${GUILDS[guild]}`));
    const placed = [[left, "left"], [right, "right"]].filter(([guilds]) => guilds).map(
      ([guilds, end]) => `${listed([...guilds].map(guild => GUILDS[guild]))} to the ${end}`);
    return `takes ${taken}${placed.length ? `; new: ${listed(placed)}` : ""}`;
  }

  const columns = row => row.map(
    ({ guild, height, scores }) => `${GUILDS[guild]} ${height}${scores ? " scores" : ""}`).join(", ");

  /* Elements; texts only ever as text. */
  function make(tag, className, text, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined && text !== "") element.textContent = text;
    element.append(...children);
    return element;
  }

  function start(data, root) {
    const part = name => root.querySelector(`[data-part="${name}"]`);
    const games = data.games;
    const player = part("player");
    let game, all, at = 0, timer = 0, written = 0, writing = 0;

    const named = (each, seat) => data.bots[each.seats[seat]];
    const bot = seat => named(game, seat);
    const last = () => all.length - 1;
    const faultAt = turn => game.faults.filter(fault => fault[1] === turn);
    const forfeited = (seat, turn) => game.faults.some(fault => fault[0] === seat && fault[1] <= turn);

    function choose(next) {
      if (next === game) return;
      game = next;
      all = positions(game, data.decks[game.deck]);
      part("game").value = String(game.number);
      player.classList.remove("of2", "of3", "of4", "of5");
      player.classList.add(`of${game.seats.length}`);
      player.classList.toggle("talks", Object.keys(game.said).length > 0);
      part("scrub").max = String(last());
      const tallest = Math.max(...all[last()].rows.flat().map(column => column.height));
      part("seats").style.setProperty("--tallest", String(tallest)); // room for the whole game, so that nothing jumps
      part("moves").replaceChildren(...all.map((each, turn) => make("li", "", "", entry(each, turn))));
    }

    function entry(each, turn) {
      const button = make("button");
      button.type = "button";
      button.tabIndex = -1;
      button.dataset.turn = String(turn);
      const by = game.by.includes(turn);
      const signs = [
        ["✦", each.firefly === turn], ["†", by], ["✗", faultAt(turn).length], ["”", game.said[turn]],
      ];
      const marks = make("span", "marks", signs.map(([sign, there]) => there ? sign : "").join(""));
      if (each.move === undefined) {
        button.append(make("span", "turn", turn), make("span", "who", "the end"), make("code"), marks);
      } else {
        button.append(
          make("span", "turn", turn), make("span", "who", bot(each.seat)), make("code", "", each.move), marks,
          make("span", "took", by ? "" : time(game.ms[turn])));
      }
      return button;
    }

    function show(turn) {
      at = Math.min(Math.max(turn, 0), last());
      const now = all[at];
      const done = now.move === undefined;
      part("seats").replaceChildren(...now.rows.map((row, seat) => stand(now, row, seat, done)).reverse());
      part("market").replaceChildren(...slots(now));
      part("pile").textContent = `${now.pile} ${now.pile === 1 ? "card" : "cards"} in the pile`;
      part("firefly").textContent = now.firefly < 0 ? `the firefly lies below ${now.above} of them`
        : done ? `the firefly showed up in turn ${now.firefly}`
          : `the firefly is out since turn ${now.firefly}: the last round`;
      player.classList.toggle("out", now.firefly >= 0);
      part("track").style.setProperty("--left", String(now.pile));
      part("track").style.setProperty("--all", String(all[0].pile));
      part("words").replaceChildren(...words(now, done));
      part("said").textContent = game.said[at] || "";
      part("said").hidden = !game.said[at];
      part("scrub").value = String(at);
      part("scrub").setAttribute("aria-valuetext", done ? "the end" : `turn ${at} of ${last()}`);
      part("count").textContent = `${at} / ${last()}`;
      for (const [name, off] of [["first", at === 0], ["back", at === 0], ["on", done], ["last", done]]) {
        part(name).setAttribute("aria-disabled", String(off));
      }
      mark();
      link();
    }

    function words(now, done) {
      const shown = [make("b", "", done ? "The end" : `Turn ${at}`), " "];
      for (const [seat, , kind, detail] of faultAt(at)) {
        const what = ` forfeits, ${kind.replaceAll("_", " ")}: `;
        shown.push(make("span", "forfeit", "", make("bdi", "", bot(seat)), what, make("bdi", "", detail)), " ");
      }
      if (!done) {
        const who = game.by.includes(at) ? "the referee plays for " : "";
        shown.push(who, make("bdi", "", bot(now.seat)), ` ${told(now)} `, make("code", "", now.move));
      } else if (game.scores) {
        shown.push(listed(game.seats.map((_, seat) => `${bot(seat)} ${game.scores[seat]}`)));
      } else {
        shown.push("by forfeit");
      }
      return shown;
    }

    function stand(now, row, seat, done) {
      const gone = forfeited(seat, now.turn);
      const trees = make("div", "trees", "", ...row.map(tree));
      trees.setAttribute("role", "img");
      trees.setAttribute("aria-label", columns(row));
      const name = make("p", "name", "", make("bdi", "", bot(seat)));
      name.title = bot(seat);
      const turn = !done && seat === now.seat;
      const more = gone ? ", forfeited" : turn ? make("span", "hidden", ", on turn") : "";
      const element = make("div", `clearing${turn ? " mover" : ""}${gone ? " gone" : ""}`, "",
        trees, name, make("p", "sum", "", `seat ${seat}`, more, " · ", make("b", "", now.points[seat])));
      element.dataset.seat = String(seat);
      return element;
    }

    function tree({ guild, height, fresh, scores }) {
      const cards = Array.from({ length: height }, (_, card) => // from the top down: the new ones first
        make("i", `g${guild}${card < fresh ? " fresh" : ""}`, guild));
      const top = make("i", `top g${guild}`);
      return make("div", `tree ${scores ? "scores" : "low"}`, "", make("span", "tall", height), top, ...cards);
    }

    function slots(now) {
      const cards = now.market.map(guild => {
        const taken = now.taken.includes(guild);
        const card = make("li", `g${guild}${taken ? " taken" : ""}`, guild);
        card.setAttribute("aria-label", `${GUILDS[guild]}${taken ? ", taken" : ""}`);
        return card;
      });
      while (cards.length < MARKET) {
        const none = make("li", "none");
        none.setAttribute("aria-label", "empty");
        cards.push(none);
      }
      return cards;
    }

    /* The list's entry of this turn, brought into its box without moving the page. */
    function mark() {
      const list = part("moves");
      for (const old of list.querySelectorAll("[aria-current]")) {
        old.removeAttribute("aria-current");
        old.tabIndex = -1;
      }
      const button = list.children[at].firstChild;
      button.setAttribute("aria-current", "step");
      button.tabIndex = 0;
      list.scrollTop = button.offsetTop - (list.clientHeight - button.offsetHeight) / 2;
    }

    /* The address names game and turn; written at once, but not more often than browsers allow. */
    const address = () => game.number ? `#game=${game.number}&turn=${at}` : `#turn=${at}`;
    let quiet = true; // until somebody does something
    function link() {
      part("link").setAttribute("href", address());
      if (quiet || writing) return;
      const wait = Math.max(0, written + LINK_MS - Date.now());
      const write = () => {
        writing = 0;
        written = Date.now();
        history.replaceState(history.state, "", address());
      };
      if (wait) writing = setTimeout(write, wait);
      else write();
    }

    function go(turn) {
      quiet = false;
      stop();
      show(turn);
    }

    function stop() {
      clearInterval(timer);
      timer = 0;
      playing(false);
    }

    function play() {
      if (timer) {
        stop();
        return;
      }
      quiet = false;
      if (at === last()) show(0);
      timer = setInterval(() => {
        show(at + 1);
        if (at === last()) stop();
      }, TURN_MS);
      playing(true);
    }

    function playing(on) {
      part("play").setAttribute("aria-label", on ? "Pause" : "Play");
      part("play").classList.toggle("on", on);
      part("words").setAttribute("aria-live", on ? "off" : "polite"); // a game read aloud at this pace is noise
    }

    /* What the address asks for; whether it asked at all. */
    function follow() {
      const asked = new URLSearchParams(location.hash.slice(1));
      if (!asked.has("turn") && !asked.has("game")) return false;
      const number = asked.has("game") ? Number(asked.get("game")) : 0;
      choose(games.find(each => each.number === number) || games[0]);
      stop();
      show(Math.trunc(Number(asked.get("turn"))) || 0);
      return true;
    }

    function see() {
      root.scrollIntoView();
      player.focus({ preventScroll: true });
    }

    const keys = {
      ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(last()), " ": play,
    };
    player.addEventListener("keydown", event => {
      const own = event.target.matches("select, input") || (event.key === " " && event.target.closest("button, a"));
      const act = keys[event.key];
      if (!act || own || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    const buttons = { first: keys.Home, back: keys.ArrowLeft, play, on: keys.ArrowRight, last: keys.End };
    for (const [name, act] of Object.entries(buttons)) {
      part(name).addEventListener("click", act);
    }
    part("scrub").addEventListener("input", event => go(Number(event.target.value)));
    part("moves").addEventListener("click", event => {
      const button = event.target.closest("button");
      if (button) go(Number(button.dataset.turn));
    });
    part("game").append(...games.map(each => {
      const seats = each.seats.map((_, seat) => named(each, seat) + (each.scores ? ` ${each.scores[seat]}` : ""));
      const end = each.scores ? "" : ", by forfeit";
      const option = make("option", "", `deal ${each.deal}, rotation ${each.rotation}: ${seats.join(", ")}${end}`);
      option.value = String(each.number);
      return option;
    }));
    part("game").addEventListener("change", event => {
      choose(games.find(each => each.number === Number(event.target.value)));
      go(0);
    });
    for (const each of games) {
      const heading = document.querySelector(`#d${each.deal}r${each.rotation} h4`);
      const watch = make("a", "watch", "Watch");
      watch.href = `#game=${each.number}&turn=0`;
      watch.setAttribute("aria-label", `Watch deal ${each.deal}, rotation ${each.rotation}`);
      watch.addEventListener("click", event => {
        event.preventDefault();
        choose(each);
        go(0);
        see();
      });
      heading.after(watch);
    }
    addEventListener("hashchange", () => { if (follow()) see(); });

    root.hidden = false;
    if (follow()) see();
    else {
      choose(games.find(each => location.hash === `#d${each.deal}r${each.rotation}`) || games[0]);
      show(0);
    }
  }

  const data = document.getElementById("replays");
  if (data) start(JSON.parse(data.textContent), document.getElementById("replay"));
})();
