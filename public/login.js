// Keeps the query behind `#` of the page that asked for the sign-in: it stays in this tab and is sent nowhere. The console reads
// it afterwards (console/src/api/request.ts).
const pathname = new URLSearchParams(location.search).get('next');
if (location.hash !== '' && pathname !== null) {
  sessionStorage.setItem('fragment-before-sign-in', JSON.stringify({ pathname, hash: location.hash }));
}
