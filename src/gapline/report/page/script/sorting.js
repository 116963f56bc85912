function sortButton(label, column) {
  const mark = sorting.column === column ? (sorting.down ? " ↓" : " ↑") : "";
  return element("button", { type: "button", title: "Sort by this column", on: { click: () => {
    sorting.down = sorting.column === column && !sorting.down;
    sorting.column = column;
    renderInstances(page.summary);
  } } }, label + mark);
}
