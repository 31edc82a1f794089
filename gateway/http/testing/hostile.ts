import fc from 'fast-check'

/** Texts that have broken programs before: metacharacters of SQL, shells, paths, HTML and logs, odd Unicode, prototypes, and lengths. */
export const hostileTexts: readonly string[] = [
  ...[
    '',
    ' ',
    '\0',
    '\u0000abc',
    "'",
    '"',
    "' OR '1'='1",
    "'; DROP TABLE subscriber; --",
    '%',
    '_',
    '\\',
    '%00',
  ],
  ...[
    '../../etc/passwd',
    '..%2f..%2f',
    '/',
    '//',
    '/public',
    '/public/',
    '//x',
    '/a/b/c',
    '?',
    '#',
    '*',
    '.',
  ],
  ...['<script>alert(1)</script>', '{{7*7}}', '$(id)', '`id`', '|', '\r\nx-injected: 1', '\n'],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    'true',
  ],
  ...['0', '-1', '1e309', '9007199254740993', '0x10', '1.5', '٣', '１２'],
  ...['\ud800', '\udc00\ud800', '\u202e', '\ufeff', '\u200b', 'é', 'e\u0301', '𝒳', '👩‍👩‍👧', 'ﷺ', 'İ', 'ß'],
  ...[
    'x'.repeat(300),
    'x'.repeat(5000),
    '☃'.repeat(2000),
    'a@b',
    'a@b@c',
    '@',
    'http://',
    'http://[::1',
    'https://x:99999',
  ],
  ...['file:///etc/passwd', 'javascript:alert(1)', 'sip:', 'sip:@', 'sip:a@b;', 'sip:a@b?x', '+', '+1'],
  ...['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '2026-13-45T99:99:99Z'],
]

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }
  return value
}

/** Any code points, halves of pairs too. (To look up what can be shrunk, the library's own text of them makes a table of all for seconds.) */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0x10_ff_ff })), { maxLength })
    .map((points) => String.fromCodePoint(...points))

/** Values of any type, of which none is what is asked for. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -1, -0, 0.1, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 53, -(2 ** 53), 2 ** 63],
    ...[[], {}, [[]], [{}], [null], { length: 3 }, { toString: 1 }, { constructor: 1 }, deep(90)],
    Array.from({ length: 1000 }, () => 0),
  ),
  anyText(40),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Bodies that are no JSON, or none that may come in. */
export const hostileBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '{',
      '}',
      '[',
      'null',
      'true',
      '1',
      '"x"',
      '[]',
      '{}',
      '{"a":1,"a":2}',
      '{"__proto__":{"x":1}}',
    ],
    ...[
      '{"constructor":{"prototype":{"x":1}}}',
      '\ufeff{}',
      '{"a":1e999}',
      '{"\\ud800":1}',
      '{"a":"\\u0000"}',
    ],
    ...['['.repeat(30_000), `${'['.repeat(5000)}${']'.repeat(5000)}`, `{"a":"${'x'.repeat(70_000)}"}`],
  ),
  anyText(60),
)
