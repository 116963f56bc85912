// The offline page of this moment, as a file.

async function saveReport() {
  const button = byId("save-report");
  button.disabled = true;
  patchText("save-words", "the report is being written…");
  let words = "";
  try {
    const answer = await fetch(`/report.html?${studyQuery()}`);
    if (answer.ok) saveBlob("report.html", await answer.blob());
    else words = `No report: ${visible((await answer.text()).trim())}`;
  } catch {
    words = "No report: the server is gone.";
  }
  button.disabled = live.gone !== null;
  patchText("save-words", words);
}
