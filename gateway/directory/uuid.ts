/**
 * Returns whether a text is a UUID in the gateway's form. Any other text is not an id, and needs no query.
 */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
