import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify'
import type { Static, TSchema } from 'typebox'

/** Properties of a JSON schema, by name. */
export type SchemaProperties = Readonly<Record<string, object>>

/** Site whose routes take the types of body, parameters and query from their schemas. */
export type TypedSite = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  RouteTypes
>

/** Type provider of Fastify: derives the type of a validated value from a schema that is `as const`. */
export interface RouteTypes extends FastifyTypeProvider {
  readonly validator: Validated<this['schema']>
  readonly serializer: unknown
}

/** Type of a value that a schema has validated. Properties with a default are present. */
export type Validated<S> = S extends { readonly properties: infer P }
  ? ValidatedFields<P, S extends { readonly required: readonly (infer R)[] } ? R : never> | NullOf<S>
  : ValueOf<S>

/**
 * Type of an object with these properties. Required properties, and properties with a default, are present.
 */
export type ValidatedFields<P, Required = never> = {
  readonly [K in keyof P as K extends Required | Defaulted<P> ? K : never]: ValueOf<P[K]>
} & {
  readonly [K in keyof P as K extends Required | Defaulted<P> ? never : K]?: ValueOf<P[K]>
}

type Defaulted<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]

type ValueOf<S> = KnownValueOf<S> | NullOf<S>

/**
 * Type of a value. TypeBox derives it, except for enums of unknown length and objects without known
 * properties.
 */
type KnownValueOf<S> = S extends { readonly enum: readonly (infer V)[] }
  ? V
  : S extends { readonly items: infer I extends object }
    ? readonly ValueOf<I>[]
    : S extends AnyObject
      ? Readonly<Record<string, unknown>>
      : S extends TSchema
        ? Static<S>
        : unknown

type AnyObject = { readonly type: 'object' | readonly ['object', 'null']; readonly properties?: never }

/** Adds `null`, which TypeBox ignores in a list of types with `object` or `array`. */
type NullOf<S> = S extends { readonly type: readonly unknown[] }
  ? 'null' extends S['type'][number]
    ? null
    : never
  : never

/** Request to a route whose parameters, query and body have these schemas. */
export type TypedRequest<Params = unknown, Query = unknown, Body = unknown> = Omit<
  FastifyRequest,
  'params' | 'query' | 'body'
> & {
  readonly params: Validated<Params>
  readonly query: Validated<Query>
  readonly body: Validated<Body>
}
