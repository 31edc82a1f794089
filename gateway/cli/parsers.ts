/** Checks of values on the command line. They throw a sentence that the error message quotes. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

/** Returns the text if it is an IP address. */
export const ipAddress = (text: string): string => {
  if (isIP(text) === 0) throw new InvalidArgumentError('It must be an IP address.')
  return text
}

/** Returns a parser that accepts one of the choices without regard to capital letters. */
export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice => {
    const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase())
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.`)
    return found
  }
