/**
 * Returns whether a text is a UUID as the gateway writes ids. Any other text cannot be an id, and needs no
 * query.
 */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
