// What `library` says of this client. A test holds it against package.json.
export const VERSION = '0.1.0';
