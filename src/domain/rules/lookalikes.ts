/** Letters of other scripts that are drawn like Latin ones, small or capital. */
const DRAWN_LIKE: Readonly<Record<string, string>> = {
  // Cyrillic
  ...{ а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', ѵ: 'v', ԍ: 'g', н: 'h', һ: 'h', і: 'i', ї: 'i', ј: 'j', к: 'k' },
  ...{ ӏ: 'l', м: 'm', о: 'o', р: 'p', ԛ: 'q', г: 'r', ѕ: 's', т: 't', ԝ: 'w', х: 'x', у: 'y', ү: 'y', ё: 'e' },
  // Greek
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', μ: 'm', ν: 'v', ο: 'o', ρ: 'p', σ: 'o', ς: 'c', τ: 't' },
  ...{ υ: 'u', χ: 'x', ζ: 'z', γ: 'y', ω: 'w' },
  // Armenian, and Latin letters of other alphabets
  ...{ օ: 'o', ս: 'u', հ: 'h', ո: 'n', ց: 'g', զ: 'q', ɑ: 'a', ɡ: 'g', ı: 'i', ɩ: 'i', ɪ: 'i', ʏ: 'y', ꜱ: 's' },
}

/** How a name looks: names that look alike have the same. Accents and digits count, small and capital letters do not. */
export const looksOf = (name: string): string =>
  Array.from(name.normalize('NFKC').toLowerCase(), letter => DRAWN_LIKE[letter] ?? letter)
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
