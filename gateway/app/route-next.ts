/** Work of a handler after the admission of a call, as far as it can be known without side effects. */

import { withoutUrlSecrets } from '../../config/secret-mask.ts'
import { formRequest } from '../../handlers/common/forms.ts'
import { readFlowDocument } from '../../handlers/flow/document.ts'
import { DocumentInvalid, type DocumentRequest, type FetchedDocument } from '../../handlers/handler.ts'
import { readScriptDocument } from '../../handlers/script/document.ts'
import { readXmlTree } from '../../handlers/xml/document.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { AddressBook, HandlerSpec, Target } from '../model.ts'
import type { PresenceAnswer } from '../operator/presence-answer.ts'
import type { AdmittedPlan, RouteQuery } from './route-test.ts'
import { stepLines } from './script-step-lines.ts'

/** Question to a running gateway. */
export interface PresenceQuestion {
  readonly project: string
  readonly addresses: readonly string[]
  readonly topics: readonly string[]
}

/** Collaborators of {@link nextSteps}. */
export interface NextDeps {
  readonly directory: AddressBook
  /** Resolves with undefined if no gateway answers. */
  readonly presence: (question: PresenceQuestion) => Promise<PresenceAnswer | undefined>
  /** Fetches a document for a project; undefined: URLs are only shown. */
  readonly fetch?: (request: DocumentRequest, projectId: string) => Promise<FetchedDocument>
}

/** Maximum number of steps of a document that are shown. */
const maxSteps = 6
/** Maximum length of one shown step. */
const maxLength = 100

/** Returns lines about the work after the admission of a call. */
export const nextSteps = async (
  { plan, projectId }: { readonly plan: AdmittedPlan; readonly projectId: string },
  query: RouteQuery,
  deps: NextDeps,
): Promise<readonly string[]> => {
  if (plan.kind === 'dial') return targetLines([plan.to], projectId, deps)
  const { handler } = plan
  if (handler.kind === 'realtime') return topicLines(handler.topic, projectId, deps)
  if ('document' in handler) return documentLines(handler.kind, handler.document, projectId, deps)
  return urlLines(handler, query, projectId, deps)
}

const topicLines = async (
  topic: string,
  project: string,
  { presence }: NextDeps,
): Promise<readonly string[]> => {
  const found = await presence({ project, addresses: [], topics: [topic] })
  if (!found) return [`applications on ${topic}: unknown, no gateway is running`]
  const count = found.topics[topic] ?? 0
  return [
    count === 0 ? `no application listens on ${topic}: the call is rejected` : `${count} listen on ${topic}`,
  ]
}

type DocumentHandler = Extract<HandlerSpec, { readonly url: string }>

const urlLines = async (
  { kind, url, method = 'POST', fallbackUrl }: DocumentHandler,
  query: RouteQuery,
  projectId: string,
  deps: NextDeps,
): Promise<readonly string[]> => {
  const fallback = fallbackUrl === undefined ? [] : [`if that fails: fetches ${shownUrl(fallbackUrl)}`]
  const fetches = `fetches ${shownUrl(url)} (${method})`
  if (!deps.fetch) return [`${fetches}; --fetch does so now`, ...fallback]
  try {
    const document = await deps.fetch(requestFor(kind, url, method, query, projectId), projectId)
    return [
      `${fetches}: ${document.text.length} characters, ${document.contentType ?? 'without a content type'}`,
      ...(await documentLines(kind, document.text, projectId, deps)),
    ]
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error
    const { status, reason } = error.facts as { readonly status?: number; readonly reason?: string }
    const why = status === undefined ? (reason ?? error.message) : `status ${status}`
    return [`${fetches}: fails (${why})`, ...fallback]
  }
}

/** Returns a URL without user, password, query and fragment, which may be secret. */
const shownUrl = (text: string): string => {
  const url = new URL(text)
  return `${url.origin}${url.pathname}`
}

/** Returns the request of a test. Its call has the id `route-test`. */
const requestFor = (
  kind: DocumentHandler['kind'],
  url: string,
  method: 'GET' | 'POST',
  { uri, source }: RouteQuery,
  projectId: string,
): DocumentRequest => {
  const from = `sip:route-test@${source}`
  const id = 'route-test'
  if (kind === 'xml') {
    const call = { CallSid: id, AccountSid: projectId, From: from, To: uri }
    return formRequest({ url, method }, { ...call, CallStatus: 'ringing', Direction: 'inbound' })
  }
  if (method === 'GET') return { url, method }
  const call = {
    call_id: id,
    project_id: projectId,
    from,
    to: uri,
    call_state: 'created',
    direction: 'inbound',
  }
  const text = JSON.stringify({ call: { ...call, type: 'sip', headers: [] }, vars: {}, envs: {}, params: {} })
  return { url, method, body: { contentType: 'application/json', text } }
}

const documentLines = async (
  kind: DocumentHandler['kind'],
  text: string,
  projectId: string,
  deps: NextDeps,
): Promise<readonly string[]> => {
  try {
    const steps = kind === 'xml' ? xmlSteps(text) : scriptSteps(kind, text)
    const shown = steps.slice(0, maxSteps)
    const more = steps.length > maxSteps ? [`and ${steps.length - maxSteps} more steps`] : []
    const targets = shown.flatMap(({ targets: all }) => all)
    return [
      ...(shown.length === 0 ? ['the document has no steps'] : []),
      ...shown.flatMap(({ lines: [first = '', ...more] }, index) => [
        `${index + 1}. ${shortened(first)}`,
        ...more.map((line) => ` ${shortened(line)}`),
      ]),
      ...more,
      ...(await targetLines([...new Set(targets)], projectId, deps)),
    ]
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error
    return error.faults.map(
      ({ line = 1, column = 1, message }) => `the document is invalid: ${line}:${column} ${message}`,
    )
  }
}

interface DocumentStep {
  /** The step, then one line for each of its branches. */
  readonly lines: readonly string[]
  /** Addresses and URIs that the step calls, without those that depend on a variable. */
  readonly targets: readonly string[]
}

const scriptSteps = (kind: 'script' | 'flow', text: string): readonly DocumentStep[] => {
  const main = kind === 'script' ? readScriptDocument({ text }).main : readFlowDocument({ text }).program.main
  return main.steps.map((step) => ({
    lines: stepLines(step),
    targets: step.method === 'connect' ? textsOf(step.parameters).filter(isTarget) : [],
  }))
}

const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

const isTarget = (text: string): boolean =>
  !text.includes('%{') && (/^sips?:\S+$/i.test(text) || /^\/[^\s/?#]+\/[^\s/?#]+$/.test(text))

type XmlElement = ReturnType<typeof readXmlTree>

const xmlSteps = (text: string): readonly DocumentStep[] =>
  readXmlTree(text)
    .children.filter((child) => typeof child !== 'string')
    .map((verb) => {
      const nouns = verb.children.filter((child) => typeof child !== 'string')
      const content = [shownXmlText(verb), ...nouns.map((noun) => `<${noun.name}>${shownXmlText(noun)}`)]
      const targets = nouns.flatMap((noun) => (verb.name === 'Dial' ? xmlTarget(noun) : []))
      return { lines: [`<${verb.name}> ${content.filter((part) => part !== '').join(' ')}`.trim()], targets }
    })

const xmlText = ({ children }: XmlElement): string =>
  children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim()

/** Returns the text of an element without the secrets of a URL. */
const shownXmlText = (element: XmlElement): string => withoutUrlSecrets(xmlText(element))

/** Returns the address or URI of a noun of Dial. A client without a context is in `public`. */
const xmlTarget = (noun: XmlElement): readonly string[] => {
  const text = xmlText(noun)
  if (text === '' || text.includes('{{')) return []
  if (noun.name === 'Client') return [text.startsWith('/') ? text : `/public/${text}`]
  return noun.name === 'Sip' || noun.name === 'Number' ? [text] : []
}

/** Returns a line about each destination: its kind, and how many devices would ring. */
const targetLines = async (
  targets: readonly string[],
  project: string,
  { directory, presence }: NextDeps,
): Promise<readonly string[]> => {
  const found = targets.map((to) => ({ to, target: directory.resolve(to, project) }))
  const addresses = found.flatMap(({ target }) => (target && ringsDevices(target) ? [target.address] : []))
  const online = addresses.length > 0 ? await presence({ project, addresses, topics: [] }) : undefined
  return found.map(({ to, target }) => `${to}: ${target ? targetText(target, online) : 'no such address'}`)
}

const ringsDevices = (target: Target): target is Extract<Target, { kind: 'subscriber' | 'endpoint' }> =>
  target.kind === 'subscriber' || target.kind === 'endpoint'

const targetText = (target: Target, online: PresenceAnswer | undefined): string => {
  if (target.kind === 'sip')
    return target.carrier === undefined
      ? `calls ${target.uri}`
      : `calls ${target.uri} by carrier ${target.carrier}`
  if (target.kind === 'handler') return `runs the ${target.handler.kind} handler of the address`
  const who = target.kind === 'subscriber' ? 'subscriber' : 'SIP endpoint'
  if (!online) return `${who}; presence unknown: no gateway is running`
  const count = online.addresses[target.address] ?? 0
  const devices = target.kind === 'subscriber' ? 'browsers' : 'phones'
  return count === 0 ? `${who}; not online` : `${who}; online, ${count} ${devices}`
}

/** Returns a line of a limited length. The spaces at its start stay. */
const shortened = (line: string): string => {
  const flat = line.replaceAll(/(?<=\S)\s+/g, ' ')
  return flat.length <= maxLength ? flat : `${flat.slice(0, maxLength - 1)}…`
}
