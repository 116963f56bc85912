// A connection can die without a word (a machine that slept, a tunnel that broke): after a silence, the server is asked.

const SILENCE = 30000;
const PATIENCE = 10000;

function keepPulse() {
  setInterval(async () => {
    if (live.source === null || live.gone !== null || Date.now() - live.heard < SILENCE) return;
    live.heard = Date.now();
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), PATIENCE);
    try {
      const answer = await fetch(`/api/events?${studyQuery()}`, { method: "HEAD", signal: stop.signal });
      if (!answer.ok) throw new Error(String(answer.status));
    } catch {
      setGone("it does not answer");
      live.source.close();
      openFeed(live.state?.id ?? null);
    }
    clearTimeout(timer);
  }, PATIENCE);
}
