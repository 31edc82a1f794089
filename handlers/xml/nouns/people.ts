import { readCodecs } from '../../common/codecs.ts'
import { isAddress, isSipUri, readNumber } from '../../common/destinations.ts'
import { apiVersion } from '../../common/forms.ts'
import { hasControl, percentDecode, readHeader, withX } from '../../common/headers.ts'
import type { Destination, Header } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { readDigits } from '../verbs/play.ts'
import { calleeAttributes, readCallee } from './callee.ts'
import type { Callable, Noun } from './noun.ts'
import { parameter, readParameters } from './parameter.ts'

/** `Number`: a phone number, by the default carrier. */
export const number: Noun = {
  name: 'Number',
  attributes: [...calleeAttributes, 'sendDigits'],
  read: (reader) => {
    const common = readCallee(reader)
    const sendDigits = readDigits(reader, 'sendDigits')
    const to = readPhoneNumber(reader)
    return to === undefined
      ? undefined
      : (stage) => ({ to, ...common(stage, to), ...(sendDigits && { sendDigits }) })
  },
}

/** The phone number that is the element's text. */
export const readPhoneNumber = (reader: ElementReader): string | undefined => {
  const text = reader.content()
  const to = readNumber(text)
  if (to === undefined)
    reader.warning(codes.number, `${JSON.stringify(text)} is not a phone number; it is not called.`)
  return to
}

const identity = { name: 'Identity', attributes: [] } as const

/** Characters of the parameters of one `Client`, as JSON. */
const mostVariables = 2_048

const readVariables = (reader: ElementReader): Destination['userVariables'] => {
  const variables = readParameters(reader)
  if (Object.keys(variables).length === 0) return undefined
  if (JSON.stringify(variables).length <= mostVariables) return variables
  reader.warning(codes.schema, `The parameters of a Client take ${mostVariables} characters; none is told.`)
  return undefined
}

/** `Client`: `name` stands for the address `/public/name`; an address `/context/name` is taken as it is. */
export const client: Noun = {
  name: 'Client',
  attributes: calleeAttributes,
  inside: [identity, parameter],
  read: (reader) => {
    const common = readCallee(reader)
    const userVariables = readVariables(reader)
    const [named] = reader.nestedOf([identity])
    const text = (named?.reader ?? reader).content()
    const to = text.startsWith('/') ? text : `/public/${text}`
    if (isAddress(to))
      return (stage) => ({ to, ...(userVariables && { userVariables }), ...common(stage, to) })
    const message = `Client needs a name or an address /context/name, not ${JSON.stringify(text)}; nobody is called.`
    reader.warning(codes.schema, message)
    return undefined
  },
}

/** `Verto`: `name@host` stands for the address `/public/name` where the host, with or without a label `verto`, is the gateway's. */
export const verto: Noun = {
  name: 'Verto',
  attributes: [],
  read: (reader) => {
    const text = reader.content().replace(/^(sip|verto):/i, '')
    const [, name = '', host = ''] = /^([^@]+)@([A-Za-z0-9.-]+)$/.exec(text) ?? []
    const to = `/public/${name}`
    if (!host || !isAddress(to)) {
      reader.warning(codes.schema, `Verto needs name@host, not ${JSON.stringify(text)}; nobody is called.`)
      return undefined
    }
    return (stage) => {
      if (hostNames(host).some((each) => stage.context.isOwnHost(each))) return { to }
      stage.warn(codes.schema, `Verto calls browsers of this gateway, and ${host} is none of its names.`)
      return undefined
    }
  },
}

/** The name, and what it is without the label `verto`. */
const hostNames = (host: string): readonly string[] => {
  const name = host.toLowerCase()
  return [name, name.replace(/(^|\.)verto\./, '$1')]
}

/** Headers by which an INVITE tells the call of who is called, and the project. No document says otherwise. */
const idHeaders = (callId: string, projectId: string): readonly Header[] => [
  { name: 'X-CallSid', value: callId },
  { name: 'X-AccountSid', value: projectId },
  { name: 'X-ApiVersion', value: apiVersion },
]
const idNames = idHeaders('', '').map(({ name }) => name.toLowerCase())

/**
 * `Sip`: a SIP URI; what stands behind its `?` becomes headers of the INVITE (RFC 3261 section 19.1.1), with `X-` in front, beside those of
 * the gateway's own. User-to-User keeps its name (RFC 7433).
 */
export const sip: Noun = {
  name: 'Sip',
  attributes: [...calleeAttributes, 'username', 'password', 'codecs', 'sessionTimeout'],
  read: (reader) => {
    const username = reader.text('username')
    const password = reader.text('password')
    const codecs = readCodecList(reader)
    const sessionTimerSeconds = reader.integer('sessionTimeout', 90, 86_400, undefined)
    const common = readCallee(reader)
    const place = readSipUri(reader)
    if (!place) return undefined
    const destination = {
      ...place,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(codecs && { codecs }),
      ...(sessionTimerSeconds !== undefined && { sessionTimerSeconds }),
    }
    return (stage) => ({
      ...destination,
      headersFor: (callId) => idHeaders(callId, stage.call.info.projectId),
      ...common(stage, place.to),
    })
  },
}

const readCodecList = (reader: ElementReader) => {
  const text = reader.text('codecs')
  if (text === undefined) return undefined
  const codecs = readCodecs(text)
  if (codecs.length > 0) return codecs
  reader.warning(
    codes.codecs,
    'The attribute codecs names no codec that is known; all are offered.',
    'codecs',
  )
  return undefined
}

const readSipUri = (reader: ElementReader): { to: string; headers?: readonly Header[] } | undefined => {
  const content = reader.content()
  const to = content.split('?', 1)[0] ?? ''
  if (!isSipUri(to)) {
    reader.warning(codes.sipUri, 'Sip needs a SIP URI such as sip:user@example.com; nobody is called.')
    return undefined
  }
  try {
    const query = withUserToUser(reader, queryOf(content.slice(to.length + 1)))
    const headers = withoutIds(reader, query.map(headerOf))
    return { to, ...(headers.length > 0 && { headers }) }
  } catch (error) {
    reader.warning(codes.sipUri, `The SIP URI ${(error as Error).message}; nobody is called.`)
    return undefined
  }
}

const withoutIds = (reader: ElementReader, headers: readonly Header[]): readonly Header[] => {
  const others = headers.filter(({ name }) => !idNames.includes(name.toLowerCase()))
  if (others.length < headers.length)
    reader.warning(codes.sipUri, 'The SIP URI sets a header that the gateway sets; that has no effect.')
  return others
}

const queryOf = (query: string): readonly Header[] =>
  query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return { name: percentDecode(name), value: percentDecode(value.join('=')) }
    })

const isUserToUser = ({ name }: Header): boolean => /^user-to-user$/i.test(name)

/** One value of User-to-User with its parameters (RFC 7433 section 4.1). */
const userToUserForm =
  /^(?:[\w.!%*+`'~-]+|"(?:[^"\\]|\\.)*")(?:;[\w.!%*+`'~-]+(?:=(?:[\w.!%*+`'~-]+|"(?:[^"\\]|\\.)*"))?)*$/

/** The headers without a User-to-User that does not have the form of one. */
const withUserToUser = (reader: ElementReader, headers: readonly Header[]): readonly Header[] => {
  const fit = headers.filter(
    (header) => !isUserToUser(header) || (userToUserForm.test(header.value) && !hasControl(header.value)),
  )
  if (fit.length < headers.length)
    reader.warning(codes.sipUri, 'User-to-User needs a token or a quoted string (RFC 7433); it is not sent.')
  return fit
}

const headerOf = (header: Header): Header =>
  readHeader(isUserToUser(header) ? 'User-to-User' : withX(header.name), header.value)

/** A phone number, or an address `/context/name`, that stands in `Dial` itself. */
export const bareDestination = (reader: ElementReader): Callable | undefined => {
  const text = reader.content()
  const to = isAddress(text) ? text : readPhoneNumber(reader)
  return to === undefined ? undefined : () => ({ to })
}
