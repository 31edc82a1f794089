/** Checks of values on the command line. They throw a sentence that the error message quotes. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

/** Returns the text if it is an IP address. */
export const ipAddress = (text: string): string => {
  if (isIP(text) === 0) throw new InvalidArgumentError('It must be an IP address.')
  return text
}

/** Returns the text if it is `host:port`, with an IPv6 address in brackets. Port 0 means any free one. */
export const hostAndPort = (text: string): string => {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:\s[\]]+):(\d{1,5})$/i.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('It must be host:port, such as 127.0.0.1:8089.')
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

/** Returns a parser that accepts a whole number from `min` to `max`. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`)
    return number
  }
