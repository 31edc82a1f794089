/**
 * Returns the URL under which the XML family is served. The documentation uses the prefix
 * `/api/laml/2010-04-01` and the published client `/2010-04-01`, both with and without `.json`. Other URLs
 * are returned unchanged.
 */
export const compatUrl = (url: string): string => {
  const [, path, query = ''] = /^(?:\/api\/laml)?(\/2010-04-01\/[^?]*?)(?:\.json)?(\?.*)?$/s.exec(url) ?? []
  return path === undefined ? url : `/api/laml${path}${query}`
}
