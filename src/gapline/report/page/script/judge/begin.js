onmessage = ({ data }) => postMessage({ ticket: data.ticket, ...judgeAll(data.given) });
