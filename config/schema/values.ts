/**
 * Value of a schema in the file, after the validation has added the defaults. A property is present if it is
 * required or has a default.
 */
export type FileValue<S> = ValueOf<S, 'file'>

/**
 * Value of a schema after `fromSchema`. A duration or age `x` is `xMs` in milliseconds; a size is a number of
 * bytes. A text that may also be a list of texts is a list.
 */
export type LoadedValue<S> = ValueOf<S, 'loaded'>

type Form = 'file' | 'loaded'

type ValueOf<S, F extends Form> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly then: infer A; readonly else: infer B }
    ? ValueOf<A, F> | ValueOf<B, F>
    : S extends { readonly type: readonly (infer T)[] }
      ? OfType<S, F extends 'loaded' ? ListIfAny<T> : T, F>
      : S extends { readonly type: infer T }
        ? OfType<S, T, F>
        : S extends { readonly properties: infer P }
          ? ObjectOf<P, RequiredOf<S>, F>
          : unknown

/** Type of a key that may be a text or a list: after loading, always a list. */
type ListIfAny<T> = 'array' extends T ? Exclude<T, 'string'> : T

type OfType<S, T, F extends Form> = T extends 'string'
  ? TextOf<S, F>
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? S extends { readonly items: infer I }
            ? readonly ValueOf<I, F>[]
            : readonly unknown[]
          : S extends { readonly properties: infer P }
            ? ObjectOf<P, RequiredOf<S>, F>
            : S extends { readonly additionalProperties: infer V }
              ? Readonly<Record<string, ValueOf<V, F>>>
              : object

type TextOf<S, F extends Form> = F extends 'loaded'
  ? S extends { readonly format: 'size' | 'duration' | 'age' }
    ? number
    : string
  : string

type RequiredOf<S> = S extends { readonly required?: readonly (infer R)[] } ? R : never

type ObjectOf<P, R, F extends Form> = Flat<
  {
    readonly [K in keyof P as IsPresent<P[K], K, R> extends true ? NameOf<P, K, F> : never]: ValueOf<P[K], F>
  } & {
    readonly [K in keyof P as IsPresent<P[K], K, R> extends true ? never : NameOf<P, K, F>]?: ValueOf<P[K], F>
  }
>

type IsPresent<S, K, R> = S extends { readonly default: unknown } ? true : K extends R ? true : false

type NameOf<P, K extends keyof P, F extends Form> = F extends 'loaded'
  ? P[K] extends { readonly format: 'duration' | 'age' }
    ? `${K & string}Ms`
    : K
  : K

type Flat<T> = { readonly [K in keyof T]: T[K] }
