// 1 + how many are better by more than a tie.
function ranksOf(means, tie) {
  return means.map((mean) => (Number.isNaN(mean) ? null : 1 + means.filter((other) => other < mean - tie).length));
}

// Why arms are not ranked or tested under this choice, or null: Scores.why_unranked.
function whyUnranked(choice, beaten) {
  if (choice.kernel.kind !== "berthold" || !beaten) return null;
  return `berthold counts beating the reference as a loss, and ${countOf(beaten, "run")} beat it: shown, not ranked`;
}

// Which of some arms of tier 1 are ranked, and why none is: gapline.contract.instance_set, among the arms that are shown.
function rankedAmong(head, rows, visible) {
  const { rule, reason, group, instances, ladder } = head.instanceSet;
  const none = (why) => ({ members: [], instances: 0, reason: why });
  if (rows.length < 2) return none(null);
  const nothing = ({ runs, empty }) => runs === empty;
  if (rows.every(nothing)) return none(`no run ${visible.every(nothing) ? "" : "of a compared arm "}found a solution`);
  if (rule === "common" && reason) return none(reason);
  // The steps of a ladder count as one arm, unless there is nothing else.
  const solver = ({ arm }) => (ladder[arm] === null ? `arm ${arm}` : ladder[arm]);
  const alone = new Set(rows.map(solver)).size === 1;
  const groups = new Map();
  for (const row of rows) groups.set(group[row.arm], [...(groups.get(group[row.arm]) ?? []), row]);
  const sized = [...groups].map(([number, members]) => ({ members, instances: instances[number], size: alone ? members.length : new Set(members.map(solver)).size }));
  const most = Math.max(...sized.map(({ size }) => size));
  if (most < 2) return none(`no two ${rows.some(({ arm }) => ladder[arm] !== null) ? "solvers" : "arms"} ran the same instances`);
  const large = sized.filter(({ size }) => size === most);
  const wide = Math.max(...large.map((one) => one.instances));
  const best = large.filter((one) => one.instances === wide);
  if (best.length > 1) return none(`${best.length} groups of ${most} arms ran ${countOf(wide, "instance")} each, and not the same ones`);
  return { members: best[0].members, instances: wide, reason: null };
}

// What a caption says of it: Python's words for all arms, nothing where all that are shown are ranked.
function rankedWords(head, { visible, compared, others, reason, instances }) {
  if (visible.length === head.arms.length) return head.instanceSet.words;
  if (reason) return `no arm is ranked: ${reason}`;
  if (!others.length || !compared.length) return "";
  const names = (rows) => rows.map(({ name }) => name).join(", ");
  return `ranked on ${countOf(instances, "instance")}: ${names(compared)}; other instances, not ranked: ${names(others)}`;
}

function countOf(number, noun) {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// The visible arms in the order of the tables: what every choice that hides, weighs or measures otherwise changes.
function rankArms(head, choice, arms) {
  const visible = arms.filter((row) => !choice.hidden.has(row.name));
  const below = visible.reduce((sum, row) => sum + row.below, 0);
  const eligible = visible.filter((row) => !row.descriptive);
  const { members, instances, reason } = rankedAmong(head, eligible, visible);
  const notRanked = whyUnranked(choice, members.reduce((sum, row) => sum + row.below, 0));
  const ranks = ranksOf(members.map((row) => row.score), head.tie);
  visible.forEach((row) => (row.rank = null));
  members.forEach((row, k) => (row.rank = notRanked ? null : ranks[k]));
  const compared = [...members].sort((a, b) => orderOf(a.score, b.score) || (a.name < b.name ? -1 : 1));
  visible.forEach((row) => (row.compared = members.includes(row)));
  // Arms with other instances and descriptive ones (tier 2) have no rank and stand below, by name.
  const others = visible.filter((row) => !row.compared && !row.descriptive);
  const ranked = [...compared, ...others, ...visible.filter((row) => row.descriptive)];
  const leaders = new Set(ranked.slice(0, head.leaders).map((row) => row.arm));
  return { arms, visible, compared, others, ranked, leaders, below, notRanked, reason, instances };
}
