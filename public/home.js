// What the front page does besides being read: copying, and asking a project. Without this script the buttons stay hidden.
for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
}

for (const form of document.querySelectorAll('form.ask')) {
  const answer = form.querySelector('.answer');
  const button = form.querySelector('button');
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    answer.hidden = false;
    answer.classList.remove('failed');
    answer.textContent = 'Asking …';
    try {
      const response = await fetch(`/api/projects/${form.dataset.project}/query`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ q: form.elements.q.value }),
      });
      answer.classList.toggle('failed', !response.ok);
      answer.textContent = response.ok ? await response.text() : await problemOf(response);
    } catch {
      answer.classList.add('failed');
      answer.textContent = 'The service cannot be reached.';
    }
    button.disabled = false;
  });
}

async function problemOf(response) {
  if (response.status === 401) return 'Your session has ended. Sign in again.';
  const { error } = await response.json().catch(() => ({ error: `The service answered ${response.status}.` }));
  return error;
}
