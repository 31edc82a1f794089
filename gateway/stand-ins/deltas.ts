/** Returns the pieces in which a server sends a text: one for each word, with the space before it. */
export const deltasOf = (text: string): readonly string[] => (text === '' ? [] : text.split(/(?<=\S)(?=\s)/))
