import type { ConfigChange } from './changes.ts'
import type { FileHandler } from './file-config.ts'
import type { ReadConfig } from './load.ts'
import type { HandlerConfig } from './types.ts'

/**
 * Returns the changes of documents in separate files whose name is the same but whose content has changed.
 * {@link changesBetween} does not find these.
 */
export const documentChanges = (
  before: Pick<ReadConfig, 'values' | 'config'>,
  after: Pick<ReadConfig, 'values' | 'config'>,
): readonly ConfigChange[] => {
  const known = new Map(documentsOf(before).map((document) => [document.path, document]))
  return documentsOf(after).flatMap(({ path, file, text }): ConfigChange[] => {
    const old = known.get(path)
    if (old?.file !== file || old.text === text) return []
    return [{ path, kind: 'changed', hidden: 'contents', rule: { kind: 'live' } }]
  })
}

interface FileDocument {
  readonly path: string
  readonly file: string
  readonly text: string | undefined
}

const documentsOf = ({ values, config }: Pick<ReadConfig, 'values' | 'config'>): readonly FileDocument[] => [
  ...values.domains.flatMap(({ domain, handler }, i) =>
    documentOf(`domains[${domain}]`, handler, config.domains[i]?.handler),
  ),
  ...values.endpoints.flatMap(({ username, handler }, i) =>
    documentOf(`endpoints[${username}]`, handler, config.endpoints[i]?.handler),
  ),
  ...values.resources.flatMap(({ project, address, handler }, i) =>
    documentOf(
      `resources[${project === undefined ? '' : `${project}/`}${address}]`,
      handler,
      config.resources[i]?.handler,
    ),
  ),
]

const documentOf = (
  entry: string,
  handler: FileHandler | undefined,
  built: HandlerConfig | undefined,
): readonly FileDocument[] => {
  if (handler?.file === undefined || !built || built.kind === 'realtime') return []
  return [{ path: `${entry}.handler.file`, file: handler.file, text: built.document }]
}
