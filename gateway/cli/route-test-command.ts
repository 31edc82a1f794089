import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import type { DocumentRequest, FetchedDocument } from '../../handlers/handler.ts'
import { type NextDeps, nextSteps, type PresenceQuestion } from '../app/route-next.ts'
import { fileObjects, type StoredObjects, storedObjects } from '../app/route-objects.ts'
import { type RouteQuery, routeText, testRoute } from '../app/route-test.ts'
import { CustomerHttp } from '../callbacks/customer-http.ts'
import { Signers } from '../callbacks/signing-keys.ts'
import { SystemClock } from '../core/clock.ts'
import { readSecret, StoreVersionDiffers } from '../directory/opening/directory-snapshot.ts'
import type { PresenceAnswer } from '../operator/presence-answer.ts'
import { askGateway } from './ask-gateway.ts'

/** Options of `trunkline route-test`. */
export interface RouteTestOptions {
  readonly json: boolean
  /** Uses the file alone, without the store. */
  readonly fileOnly: boolean
  /** Fetches the document of the call. */
  readonly fetch: boolean
}

/**
 * `trunkline route-test`: prints how the gateway would answer a request, as JSON if `json` is true. Returns
 * the exit code: 0 if the request would be admitted, 1 if not.
 */
export const routeTest = async (
  config: Config,
  query: RouteQuery,
  { json, fileOnly, fetch }: RouteTestOptions,
): Promise<number> => {
  const stored = fileOnly ? undefined : await openObjects(config)
  const objects = stored?.objects ?? fileObjects(config)
  const client = fetch ? openClient(config) : undefined
  try {
    const { next, ...report } = testRoute(config, query, objects)
    const deps: NextDeps = {
      directory: objects.directory,
      presence: (question) => askPresence(config.dataDir, question),
      ...(client && { fetch: client.fetch }),
    }
    const lines = next ? await nextSteps(next, query, deps) : []
    const source = stored ? `the file and the store ${stored.store}` : 'the file alone'
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...report, next: lines, objects: stored ? 'file and store' : 'file' })}\n`
        : `${routeText(query, report)}${lines.map((line) => `  ${line}\n`).join('')}(by ${source})\n`,
    )
    return report.admitted ? 0 : 1
  } finally {
    client?.close()
    await stored?.close()
  }
}

/** Opens the objects of the store. Prints why if only those of the file can be used. */
const openObjects = async (config: Config): Promise<StoredObjects | undefined> => {
  try {
    return await storedObjects(config)
  } catch (error) {
    if (!(error instanceof StoreVersionDiffers)) throw error
    process.stderr.write(`${error.message} \`trunkline migrate\` changes it. Only the file is tested.\n`)
    return undefined
  }
}

/** Asks the running gateway. Resolves with undefined if none runs, or it does not answer the question. */
const askPresence = async (
  dataDir: string,
  question: PresenceQuestion,
): Promise<PresenceAnswer | undefined> => {
  const answer = await askGateway(dataDir, { command: 'presence', ...question })
  const body =
    answer === undefined ? undefined : (JSON.parse(answer) as Partial<PresenceAnswer> & { error?: string })
  if (body?.error !== undefined) process.stderr.write(`Presence is unknown: ${body.error}\n`)
  return body?.addresses && body.topics ? { addresses: body.addresses, topics: body.topics } : undefined
}

const openClient = (config: Config) => {
  const { limits, sip, projects, dataDir } = config
  const secret = readSecret(join(dataDir, 'trunkline.db'))
  if (secret === undefined)
    throw new Error(`${join(dataDir, 'secret.key')} cannot be read: --fetch signs with it.`)
  const signers = new Signers(projects, secret)
  const http = new CustomerHttp({
    timeoutMs: limits.documentTimeoutMs,
    allowedNetworks: limits.documentNetworks,
    cacheBytes: 0,
    userAgent: sip.userAgent,
    signer: (projectId) => signers.of(projectId),
    clock: new SystemClock(),
  })
  return {
    fetch: (request: DocumentRequest, projectId: string): Promise<FetchedDocument> =>
      http.document(request, projectId),
    close: () => http.close(),
  }
}
