import type { Log } from '../../core/log.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import type { FarResponse, Headers, SipDialog } from '../srf.ts'
import { type Credentials, DigestSession } from './digest-session.ts'

type Options = Parameters<SipDialog['request']>[0]
type Callback = Parameters<SipDialog['request']>[1]

/** Credentials for challenges inside a dialog, and the peers that may see them. */
export interface DialogTrust {
  readonly credentials: Credentials | undefined
  /** Realms that were answered when the dialog was made. */
  readonly realms: readonly string[]
  /** Host that the INVITE was sent to, as its URI had it. */
  readonly host: string | undefined
}

/**
 * Returns the credentials that may be used inside a dialog. The peer of the dialog is the party that
 * answered, which may not be the carrier. Without a realm that is known from the INVITE or the configuration,
 * only a peer at the called host gets an answer (CVE-2021-41158).
 */
export const credentialsInside = (
  { credentials, realms, host }: DialogTrust,
  remoteTarget: string | undefined,
): Credentials | undefined => {
  if (!credentials) return undefined
  if (realms.length > 0) return { ...credentials, realms }
  if (credentials.realms || credentials.learned?.realm !== undefined) return credentials
  return host !== undefined && parseSipUri(remoteTarget ?? '')?.host === host ? credentials : undefined
}

/**
 * Returns the dialog with requests that answer challenges. The digests of drachtio-srf itself would sign the
 * wrong URI.
 */
export const answeringChallenges = (
  dialog: SipDialog,
  credentials: Credentials | undefined,
  log: Pick<Log, 'info'>,
): SipDialog => {
  if (!credentials) return dialog
  const request = (options: Options, callback: Callback) =>
    send(dialog, new DigestSession(credentials), options, callback, log)
  const destroy: SipDialog['destroy'] = ({ headers }, callback) =>
    request({ method: 'BYE', ...(headers && { headers }) }, (error) => {
      // drachtio-srf forgets a dialog only by `destroy`, even if the agent no longer knows it.
      if (error) dialog.destroy({ headers }, callback)
      else callback(null)
    })
  return new Proxy(dialog, {
    get(target, key) {
      if (key === 'request') return request
      if (key === 'destroy') return destroy
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const send = (
  dialog: SipDialog,
  session: DigestSession,
  options: Options,
  callback: Callback,
  log: Pick<Log, 'info'>,
): void => {
  dialog.request(options, (error, response) => {
    const headers = response && challenged(session, options, response, log)
    if (!headers) {
      callback(error, response)
      return
    }
    try {
      send(dialog, session, { ...options, headers: { ...options.headers, ...headers } }, callback, log)
    } catch (failure) {
      callback(failure)
    }
  })
}

const challenged = (
  session: DigestSession,
  { method, body = '' }: Options,
  response: FarResponse,
  log: Pick<Log, 'info'>,
): Headers | undefined => {
  const { status } = response
  const uri = response.req?.uri
  if ((status !== 401 && status !== 407) || uri === undefined) return undefined
  const answer = session.answer(response, { method, uri, body })
  if ('headers' in answer) return answer.headers
  log.info(
    { event: 'digest.challenge-unanswered', method, status, why: answer.why },
    'challenge not answered',
  )
  return undefined
}
