// Keeps the query behind `#` of the page that asked for the sign-in: it stays in this tab and is sent nowhere. The console reads
// it afterwards (console/src/api/request.ts).
const pathname = new URLSearchParams(location.search).get('next');
if (location.hash !== '' && pathname !== null) {
  try {
    sessionStorage.setItem('console.fragment-before-sign-in', JSON.stringify({ pathname, hash: location.hash }));
  } catch {
    // Storage is forbidden or full: the sign-in leads to the page without its query.
  }
}
