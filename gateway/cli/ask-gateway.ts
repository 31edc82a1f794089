import { connect } from 'node:net'
import { controlSocketOf } from '../operator/control-socket.ts'

/**
 * Sends a request to the gateway of a data folder by its control socket. Resolves with the line that it
 * answers; undefined if no gateway listens, or the connection ends without an answer.
 */
export const askGateway = (dataDir: string, request: object): Promise<string | undefined> =>
  new Promise((settle) => {
    let answer = ''
    const socket = connect(controlSocketOf(dataDir), () => socket.write(`${JSON.stringify(request)}\n`))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', () => settle(undefined))
    socket.on('close', () => settle(answer.endsWith('\n') ? answer : undefined))
  })

/** Returns the text for an operator whose command reached no gateway. */
export const noGateway = (dataDir: string): string =>
  `No gateway runs with the data folder ${dataDir}, or this user may not reach it. ` +
  'If the file names another data folder than at the start, the gateway needs a restart.'
