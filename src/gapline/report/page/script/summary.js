// Everything the tables show, for every arm, hidden or not; ranks are among the visible ones.
function summariseAll(page, choice, reading) {
  const { head, runs, steps } = page;
  const score = cellSums(page, (r) => reading.score[r]);
  const attained = cellSums(page, (r) => (Number.isFinite(reading.hit[r]) ? 1 : 0));
  const finalGap = cellSums(page, (r) => (reading.stop[r] === steps.first[r] ? null : reading.finalGap[r]));
  const arms = head.arms.map((name, arm) => ({
    arm, name, descriptive: head.tierTwo.includes(name), runs: 0, empty: 0, rejected: 0, late: 0, unchecked: 0, below: 0,
    // No prototype: a status may have any name.
    statuses: Object.create(null),
    score: cellMean(page, score, arm, choice.weighting),
    attained: cellMean(page, attained, arm, choice.weighting),
    finalGap: cellMean(page, finalGap, arm, choice.weighting),
  }));
  for (let r = 0; r < runs.arm.length; r++) {
    const row = arms[runs.arm[r]];
    row.runs++;
    row.empty += reading.stop[r] === steps.first[r] ? 1 : 0;
    row.rejected += runs.rejected[r];
    row.unchecked += runs.unchecked[r];
    row.late += reading.late[r];
    row.below += reading.below[r];
    row.statuses[runs.status[r]] = (row.statuses[runs.status[r]] || 0) + 1;
  }
  return { ...rankArms(head, choice, arms), score, attained, finalGap };
}
