// HTML page of the local OpenID provider: asks for the e-mail address to sign in with.

const DEVELOPER_EMAIL = 'developer@localhost.test';

export const signInPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local sign-in</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
  main { width: min(24rem, 100% - 2rem); }
  h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
  p { margin: 0 0 1.25rem; opacity: .8; }
  label { display: block; font-weight: 600; margin-bottom: .25rem; }
  input, button { box-sizing: border-box; width: 100%; font: inherit; padding: .6rem .75rem; border-radius: .5rem; }
  input { border: 1px solid GrayText; margin-bottom: 1rem; }
  button { border: 0; background: #0b57d0; color: #fff; font-weight: 600; cursor: pointer; }
  :focus-visible { outline: 3px solid #7aa7ff; outline-offset: 2px; }
</style>
</head>
<body>
<main>
  <h1>Local sign-in</h1>
  <p>This provider runs on your machine only and believes what you say. Another address is another person.</p>
  <form method="post">
    <label for="email">E-mail address</label>
    <input id="email" name="email" type="email" required maxlength="254" value="${DEVELOPER_EMAIL}">
    <button type="submit" autofocus>Sign in</button>
  </form>
</main>
</body>
</html>
`;
