/**
 * Whether a text is a UUID as we write them. What is none is the id of nothing; no database needs to be
 * asked.
 */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
