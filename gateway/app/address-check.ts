import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { DocumentPlace, DocumentPlaces } from '../../config/document-places.ts'
import type { ConfigFault, Keys } from '../../config/faults.ts'
import type { Config, DocumentHandlerConfig } from '../../config/types.ts'
import { closest } from '../../handlers/common/spelling.ts'

/**
 * Returns a warning for each address that an inline document calls and that the configuration does not
 * declare. The API may have created the address, so it is no error.
 */
export const checkAddresses = (config: Config, places: DocumentPlaces): readonly ConfigFault[] =>
  (['domains', 'endpoints', 'resources'] as const).flatMap((list) =>
    config[list].flatMap(({ handler, project = config.project }, i) => {
      if (!handler || handler.kind === 'realtime' || handler.document === undefined) return []
      const known = addressesOf(config, project)
      return calledAddresses(handler.kind, handler.document)
        .filter(({ address }) => !known.has(address))
        .map((called) => warning(handler, [list, i, 'handler'], called, known, places))
    }),
  )

/** Address that a document calls, and its position. */
interface CalledAddress extends DocumentPlace {
  readonly address: string
}

const warning = (
  handler: DocumentHandlerConfig,
  keys: Keys,
  called: CalledAddress,
  known: ReadonlySet<string>,
  places: DocumentPlaces,
): ConfigFault => {
  const near = closest(called.address, known)
  return places.fault(handler, keys, called, `the file declares no address ${called.address}`, {
    code: 'unknown-address',
    severity: 'warning',
    part: 'value',
    hint: near ? `did you mean \`${near}\`?` : 'calls to it fail unless the API has created it',
  })
}

const addressesOf = (config: Config, project: string): ReadonlySet<string> => {
  const own = ({ project: of = config.project }: { readonly project?: string }) => of === project
  return new Set([
    ...[...config.subscribers, ...config.endpoints]
      .filter(own)
      .map(({ context, name }) => `/${context}/${name}`),
    ...[...config.resources, ...config.rooms].filter(own).map(({ address }) => address),
  ])
}

const calledAddresses = (kind: DocumentHandlerConfig['kind'], text: string): readonly CalledAddress[] =>
  kind === 'xml' ? inXml(text) : inScript(text)

/** Returns an XML text with spaces in place of its comments, at the same lines and columns. */
const withoutComments = (text: string): string =>
  text
    .split('<!--')
    .map((part, at) => {
      if (at === 0) return part
      const end = part.indexOf('-->')
      const comment = end === -1 ? part : part.slice(0, end + 3)
      return `    ${comment.replace(/[^\n]/g, ' ')}${part.slice(comment.length)}`
    })
    .join('')

/** Finds the content of `Client` elements. A template such as `{{To}}` has no address yet. */
const inXml = (text: string): readonly CalledAddress[] => {
  const readable = withoutComments(text)
  return [...readable.matchAll(/<Client\b[^<>]*>\s*([^<>{}\s]+)\s*<\/Client>/g)].map((found) => {
    const name = found[1] ?? ''
    const before = readable.slice(0, found.index + found[0].lastIndexOf(name)).split('\n')
    const address = name.startsWith('/') ? name : `/public/${name}`
    return { address, path: 'Client', line: before.length, column: (before.at(-1) ?? '').length + 1 }
  })
}

/** Finds the values of `to` that are addresses. A value with a variable has no address yet. */
const inScript = (text: string): readonly CalledAddress[] => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const found: CalledAddress[] = []
  const walk = (node: unknown, path: string): void => {
    if (isSeq(node)) for (const [i, item] of node.items.entries()) walk(item, `${path}/${i}`)
    if (!isMap(node)) return
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      const at = `${path}/${name}`
      if (name !== 'to' || !isScalar(value) || !/^\/[^\s/?#%]+\/[^\s/?#%]+$/.test(String(value.value)))
        walk(value, at)
      else {
        const { line, col } = lines.linePos(value.range?.[0] ?? 0)
        found.push({ address: String(value.value), path: at, line, column: col })
      }
    }
  }
  walk(document.contents, '')
  return found
}
