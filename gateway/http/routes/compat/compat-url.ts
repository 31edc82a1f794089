/**
 * The URL under which the XML family is served: curl and the pages use `/api/laml/2010-04-01`, the published
 * client `/2010-04-01`, both with and without `.json`. What is none of the family comes back as it is.
 */
export const compatUrl = (url: string): string => {
  const [, path, query = ''] = /^(?:\/api\/laml)?(\/2010-04-01\/[^?]*?)(?:\.json)?(\?.*)?$/s.exec(url) ?? []
  return path === undefined ? url : `/api/laml${path}${query}`
}
