/* Sorts the tables of class "sortable" by any of their columns. Without it they stand in the order of the ranking.

   The header of a column becomes a button. A cell counts by its attribute data-v, else by the number that its text begins
   with, else by its text. Numbers go from the highest first, ranks and texts from the lowest; a second press turns that round. */
(() => {
  "use strict";
  const minus = /\u2212/g;

  function worth(cell) {
    const text = (cell.dataset.v ?? cell.textContent).trim().replace(minus, "-").replace(/(\d),(?=\d{3})/g, "$1");
    const number = cell.dataset.v === undefined ? parseFloat(text) : Number(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }

  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? 1 : -1; // what is no number has no value: below every number
  }

  function sort(table, column, heads) {
    const head = heads[column];
    const body = table.tBodies[0];
    const rows = [...body.rows].map(row => [worth(row.cells[column]), row]);
    const first = head.classList.contains("num") && !head.classList.contains("rank") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    rows.sort((one, two) => sign * compare(one[0], two[0])).forEach(([, row]) => body.append(row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, heads));
      head.append(button);
    });
  }
})();
