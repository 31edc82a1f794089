import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import type { UltravoxCall } from './agents/ultravox-call.ts'
import type { ChosenAnswer, Dialogue, Trigger } from './dialogue.ts'
import type { HeardTexts } from './hearing.ts'
import type { ConnectionJournal } from './journal.ts'
import type { Stage } from './perform.ts'
import type { EngineName, ErrorKind } from './script-types.ts'
import type { StandInSocket } from './stand-in-socket.ts'

/** Parts that all stand-ins of a process share. */
export interface Stand extends Stage {
  readonly clock: Clock
  readonly dialogue: Dialogue
  /** Returns the texts of a new connection. */
  texts(): HeardTexts
  /** Texts of transcribed files, each of which is a request of its own. */
  readonly fileTexts: HeardTexts
  /** Calls of Ultravox that no client has joined, by id. */
  readonly ultravoxCalls: Map<string, UltravoxCall>
}

/** Accepted WebSocket. */
export interface SocketCall {
  readonly stand: Stand
  readonly socket: StandInSocket
  readonly url: URL
  readonly headers: IncomingMessage['headers']
}

/** Stand-in of an engine behind a WebSocket. */
export interface SocketEngine {
  readonly name: EngineName
  /** Whether the stand-in serves a path. */
  readonly serves: (path: string) => boolean
  /** Serves a connection until it closes. */
  readonly open: (call: SocketCall) => void
}

/** Received HTTP request. */
export interface HttpCall {
  readonly stand: Stand
  readonly url: URL
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
  readonly journal: ConnectionJournal
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal
}

/** Stand-in of an engine behind HTTP. */
export interface HttpEngine {
  readonly name: EngineName
  readonly method: 'GET' | 'POST'
  readonly serves: (path: string) => boolean
  /** Answers a request. Rejects with an Error, which becomes a response 500. */
  readonly answer: (call: HttpCall) => Promise<void>
}

/** Status and text of an error, by its kind. */
export const errorFacts: Readonly<
  Record<ErrorKind, { readonly status: number; readonly code: string; readonly text: string }>
> = {
  unauthorised: { status: 401, code: 'invalid_api_key', text: 'Incorrect API key provided.' },
  limited: { status: 429, code: 'rate_limit_exceeded', text: 'Rate limit reached.' },
  refused: { status: 400, code: 'invalid_value', text: 'The request is refused by the script.' },
  server: { status: 500, code: 'server_error', text: 'The server had an error.' },
}

/** Sends a JSON body, and ends the response. */
export const sendJson = ({ response, journal }: HttpCall, status: number, body: object): void => {
  journal.sent(String(status), body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Sends an error in the form of OpenAI, which the compatible servers share. */
export const sendError = (call: HttpCall, kind: ErrorKind, text = errorFacts[kind].text): void => {
  const { status, code } = errorFacts[kind]
  if (kind === 'limited') call.response.setHeader('retry-after', '1')
  sendJson(call, status, { error: { message: text, type: typeOf(status), param: null, code } })
}

const typeOf = (status: number): string =>
  status === 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error'

/**
 * Returns the answer of a voice or recogniser to a text: by a rule that names the engine, else the text
 * itself. Rules of the conversation do not apply to the parts of a pipeline.
 */
export const partAnswer = (
  { dialogue }: Stand,
  engine: EngineName,
  turn: Omit<Extract<Trigger, { on: 'turn' }>, 'on'>,
): ChosenAnswer =>
  dialogue.chooseNamed(engine, { on: 'turn', ...turn }) ?? {
    actions: [{ kind: 'say', text: '{{text}}', sound: { kind: 'speech' } }],
    variables: { text: turn.text },
    functions: [],
  }
