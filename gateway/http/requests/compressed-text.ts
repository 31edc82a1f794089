import { createHash } from 'node:crypto'
import { pipeline, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliDecompress, createGzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(brotliCompress)

/** Text that is kept compressed with Brotli. */
export interface CompressedText {
  readonly content: Buffer
  /** Hash of the content, for the header `ETag`. */
  readonly hash: string
}

/** Returns a text compressed with Brotli, at a level that takes some 20 ms for a megabyte. */
export const compressed = async (text: string): Promise<CompressedText> =>
  compressedText(await compress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }))

/** Returns a text that is compressed with Brotli already. */
export const compressedText = (content: Buffer): CompressedText => ({
  content,
  hash: createHash('sha256').update(content).digest('base64url').slice(0, 22),
})

/**
 * Sends a text in a coding that the client accepts: Brotli, else gzip, which browsers use without HTTPS, else
 * none. A client that has the text already receives 304 (RFC 9110 section 13.1.2).
 */
export const sendCompressed = (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { content, hash }: CompressedText,
): FastifyReply => {
  // The codings are different representations, but weak tags compare their meaning.
  const tag = `W/"${hash}"`
  reply.headers({ etag: tag, vary: 'accept-encoding' })
  if (headers['if-none-match']?.split(',').some((each) => each.trim() === tag)) return reply.code(304).send()
  const coding = negotiate(headers['accept-encoding'] ?? '', ['br', 'gzip'])
  if (coding !== null) reply.header('content-encoding', coding)
  if (coding === 'br') return reply.send(content)
  const plain = createBrotliDecompress()
  plain.end(content)
  return reply.send(coding === 'gzip' ? zipped(plain) : plain)
}

const zipped = (plain: Transform): Transform =>
  // Fastify ends the request if a stream fails.
  pipeline(plain, createGzip(), () => {})
