"use strict";
// Makes each raw timeline searchable, from the compressed lines beside it. Without this script, or
// in a browser that cannot inflate, the rows that stand in the page and every link still work.
(() => {
  const PAGE = 400;

  const inflate = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };

  const cell = (row, text) => {
    row.insertCell().textContent = text;
  };

  const start = (box, lines) => {
    const find = (selector) => box.querySelector(selector);
    const prefix = box.dataset.prefix;
    const [who, kind, text, count] = [".who", ".kind", ".text", ".count"].map(find);
    const [earlier, later, pager] = [".earlier", ".later", ".pager"].map(find);
    const body = find("tbody");
    const haystack = lines.map((l) => (l[2] + " " + l[3] + " " + l[4] + " " + l[5]).toLowerCase());
    let chosen = lines.map((_, i) => i);
    let from = 0;

    const options = (select, column) => {
      for (const value of new Set(lines.map((l) => l[column]))) {
        select.add(new Option(value, value));
      }
    };
    options(who, 2);
    options(kind, 3);

    const toggle = (row, line) => {
      const open = row.nextElementSibling;
      if (open && open.classList.contains("json")) {
        open.remove();
        return;
      }
      const json = document.createElement("tr");
      json.className = "json";
      const only = json.insertCell();
      only.colSpan = 5;
      only.textContent = line[5];
      row.after(json);
    };

    const show = () => {
      const rows = chosen.slice(from, from + PAGE).map((i) => {
        const line = lines[i];
        const row = document.createElement("tr");
        row.id = prefix + line[0];
        row.tabIndex = 0;
        row.title = "show this line as recorded";
        for (let n = 0; n < 5; n += 1) cell(row, line[n]);
        row.onclick = () => toggle(row, line);
        row.onkeydown = (event) => {
          if (event.key === "Enter") toggle(row, line);
        };
        return row;
      });
      body.replaceChildren(...rows);
      pager.hidden = chosen.length <= PAGE;
      earlier.disabled = from === 0;
      later.disabled = from + PAGE >= chosen.length;
      const last = Math.min(from + PAGE, chosen.length);
      count.textContent = chosen.length === 0 ? "no line" : `${from + 1} to ${last} of ${chosen.length}`;
    };

    const filter = () => {
      const words = text.value.toLowerCase();
      chosen = [];
      lines.forEach((line, i) => {
        const fits = (!who.value || line[2] === who.value) && (!kind.value || line[3] === kind.value);
        if (fits && haystack[i].includes(words)) chosen.push(i);
      });
      from = 0;
      show();
    };

    for (const input of [who, kind, text]) input.oninput = filter;
    earlier.onclick = () => {
      from = Math.max(0, from - PAGE);
      show();
    };
    later.onclick = () => {
      from += PAGE;
      show();
    };
    find(".filter").hidden = false;
    const note = find(".unscripted");
    if (note) note.hidden = true;
    show();

    // Brings the line of this number on the page; says whether it has it.
    return (seq) => {
      const index = lines.findIndex((l) => l[0] === seq);
      if (index < 0) return null;
      if (!chosen.includes(index)) {
        who.value = kind.value = text.value = "";
        filter();
      }
      const place = chosen.indexOf(index);
      if (place < from || place >= from + PAGE) {
        from = Math.floor(place / PAGE) * PAGE;
        show();
      }
      box.open = true;
      return document.getElementById(prefix + seq);
    };
  };

  const boxes = [...document.querySelectorAll("details.raw")];
  const seekers = new Map();

  const follow = () => {
    const [, prefix, seq] = /^#(.*e)(\d+)$/.exec(decodeURIComponent(location.hash)) || [];
    const seek = seekers.get(prefix);
    const row = seek ? seek(Number(seq)) : null;
    document.querySelectorAll("tr.here").forEach((old) => old.classList.remove("here"));
    if (!row) return;
    row.classList.add("here");
    row.scrollIntoView({ block: "center" });
  };

  Promise.all(
    boxes.map(async (box) => {
      try {
        const lines = await inflate(box.querySelector("script").textContent);
        seekers.set(box.dataset.prefix, start(box, lines));
      } catch (error) {
        console.warn("the raw timeline stays as it stands:", error);
      }
    }),
  ).then(follow);
  window.addEventListener("hashchange", follow);

  // A finger cannot rest on a mark: what it touches is told below the picture.
  for (const figure of document.querySelectorAll("figure")) {
    figure.addEventListener("click", (event) => {
      const title = event.pointerType === "touch" && event.target.querySelector("title");
      if (!title) return;
      event.preventDefault();
      const told = figure.querySelector(".told") || figure.appendChild(document.createElement("p"));
      told.className = "told";
      told.textContent = `${title.textContent} `;
      const way = event.target.closest("a");
      if (!way) return;
      const link = document.createElement("a");
      link.href = way.getAttribute("href");
      link.textContent = "(its event)";
      told.append(link);
    });
  }

  // On paper nothing can be opened: what is folded is unfolded for it, and folded again after.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const box of folded) box.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const box of folded) box.open = false;
  });
})();
