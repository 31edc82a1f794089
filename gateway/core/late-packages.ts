/**
 * Packages that are loaded when they are first used. Loading all of them takes a tenth of a second, which a
 * gateway without such requests, and each command, need not spend.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Returns undici, which sends HTTP requests. */
export const undici = (): typeof import('undici') => require('undici')

/** Returns jose, which signs and verifies tokens. */
export const jose = (): typeof import('jose') => require('jose')

/** Returns pino-pretty, which makes readable log lines. */
export const pinoPretty = (): typeof import('pino-pretty') => require('pino-pretty')

/** Returns csv-stringify, which writes tables. */
export const csvStringify = (): typeof import('csv-stringify/sync') => require('csv-stringify/sync')

/** Returns fast-json-stringify, Fastify's serializer of responses. */
export const fastJsonStringify = (): typeof import('fast-json-stringify') => require('fast-json-stringify')
