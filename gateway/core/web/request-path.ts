/** Returns a request's URL without its query, which may hold secrets that no log may show. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url
