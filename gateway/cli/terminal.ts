import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Questions to the user of a terminal. Questions go to the standard error output. */
export interface Terminal {
  /** Resolves with the line that the user types, without blanks around it. */
  ask(question: string): Promise<string>
  /** Like `ask`, but shows nothing of the line, and keeps its blanks. */
  askSecret(question: string): Promise<string>
}

/** Streams of a terminal; default those of the process. */
export interface TerminalStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** The user ended the input with Ctrl+C or Ctrl+D. */
export class InputEnded extends Error {
  override readonly name = 'InputEnded'

  constructor() {
    super('The input has ended; nothing was changed.')
  }
}

/** Returns the terminal of the process. */
export const openTerminal = (
  { input, output }: TerminalStreams = { input: process.stdin, output: process.stderr },
): Terminal => ({
  ask: async (question) => (await askLine(question, input, output, output)).trim(),
  askSecret: async (question) => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
    output.write(question)
    try {
      return await askLine('', input, silent, output)
    } finally {
      output.write('\n')
    }
  },
})

const askLine = async (
  question: string,
  input: NodeJS.ReadableStream,
  echo: NodeJS.WritableStream,
  output: NodeJS.WritableStream,
): Promise<string> => {
  const lines = createInterface({ input, output: echo, terminal: true })
  const { promise, reject } = Promise.withResolvers<never>()
  const onClose = () => {
    // Without an echo, the caller ends the line.
    if (echo === output) output.write('\n')
    reject(new InputEnded())
  }
  lines.once('close', onClose)
  lines.once('SIGINT', () => lines.close())
  try {
    return await Promise.race([lines.question(question), promise])
  } finally {
    // Other listeners of this event belong to the interface, which stops the echo by them.
    lines.off('close', onClose)
    lines.close()
  }
}
