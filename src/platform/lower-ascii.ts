// Lower-casing of ASCII letters alone. That of Unicode text turns other characters into ASCII ones.

export const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
