import { accessSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { controlSocketOf } from '../operator/control-socket.ts'

/** Maximum time in ms without a byte from the gateway. A stopped process accepts connections, too. */
const maxSilenceMs = 30_000

/** Options of {@link askGateway}. */
export interface AskOptions {
  /** Maximum time in ms without a byte from the gateway; default 30 000. */
  readonly silenceMs?: number
}

/**
 * Sends a request to the gateway of a data folder by its control socket. Resolves with the line that it
 * answers; undefined if no gateway listens, or the connection ends without an answer. Rejects if the gateway
 * accepts the connection and stays silent.
 */
export const askGateway = (
  dataDir: string,
  request: object,
  { silenceMs = maxSilenceMs }: AskOptions = {},
): Promise<string | undefined> =>
  new Promise((settle, reject) => {
    let answer = ''
    const socket = connect(controlSocketOf(dataDir), () => socket.write(`${JSON.stringify(request)}\n`))
    socket.setEncoding('utf8')
    socket.setTimeout(silenceMs, () => {
      reject(new Error(`The gateway of ${dataDir} does not answer: its process is stopped or overloaded.`))
      socket.destroy()
    })
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', () => settle(undefined))
    socket.on('close', () => settle(answer.endsWith('\n') ? answer : undefined))
  })

/** Returns the text for an operator whose command reached no gateway. `access` checks a path. */
export const noGateway = (dataDir: string, access = accessSync): string => {
  const fault = (path: string, mode: number): string | undefined => {
    try {
      access(path, mode)
      return undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  }
  const folder = fault(dataDir, constants.X_OK)
  if (folder === 'ENOENT')
    return `No gateway runs with the data folder ${dataDir}: the folder does not exist. Is it the right file?`
  const socket = folder ?? fault(controlSocketOf(dataDir), constants.R_OK | constants.W_OK)
  if (socket === 'EACCES' || socket === 'EPERM')
    return (
      `This user may not reach the gateway of the data folder ${dataDir}. ` +
      'Run the command as the user of the gateway: sudo -u USER trunkline …'
    )
  return (
    `No gateway runs with the data folder ${dataDir}. ` +
    'After a change of dataDir in the file, the running gateway still has its former folder.'
  )
}
