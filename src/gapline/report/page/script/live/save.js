// The offline page of this moment, as a file.

async function saveReport() {
  const button = byId("save-report");
  button.disabled = true;
  patchText("save-words", "the report is being written…");
  let words = "";
  try {
    const answer = await fetch(`/report.html?${studyQuery()}`);
    if (answer.ok) {
      const url = URL.createObjectURL(await answer.blob());
      const link = element("a", { href: url, download: "report.html" });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } else words = `No report: ${visible((await answer.text()).trim())}`;
  } catch {
    words = "No report: the server is gone.";
  }
  button.disabled = live.gone !== null;
  patchText("save-words", words);
}
