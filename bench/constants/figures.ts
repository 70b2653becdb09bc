import type { Engine, Planned } from "../../src/media/feature.ts";
import { denoise } from "../../src/media/features/denoise.ts";
import { tone_map } from "../../src/media/features/tone-map.ts";
import { featureCost } from "../../src/media/features.ts";
import type { Figures } from "../../src/media/native-costs.ts";
import { median } from "../measure.ts";

/** The names of a table's figures, such as `seconds.decode.h264`. */
type FigureName<T> = {
  [K in keyof T & string]: T[K] extends number ? K : `${K}.${FigureName<T[K]>}`;
}[keyof T & string];

/** The origin of figures that no benchmark measures. */
export type Sources<T> = Readonly<Partial<Record<FigureName<T>, string>>>;

/** Measurements of work, and the figures of a table that explain them best. */
export interface Fit<T> {
  /** Adds a measurement and its estimate, which is linear in each figure. Measurements of different units are fitted separately. */
  add(
    unit: "seconds" | "memory" | "share",
    measurement: number,
    estimate: (table: Figures<T>) => number,
  ): void;
  /** Prints every figure of the table beside the fitted one, or its source. */
  print(): void;
}

interface Equation {
  unit: string;
  measurement: number;
  /** The contribution of each figure to the estimate, per unit of the figure. */
  slopes: ReadonlyMap<string, number>;
  /** The part of the estimate that no fitted figure explains. */
  rest: number;
  /** The estimate by the table. */
  estimate: number;
}

type Tree = { readonly [name: string]: number | Tree };

// Where rows cannot tell two figures apart, both keep the proportion of the table.
const PULL = 1e-3;
const SWEEPS = 3000;

/** Starts the measurements of a table. */
export function createFit<T extends object>(table: T, sources: Sources<T>): Fit<T> {
  const tree = table as unknown as Tree;
  const origins: Readonly<Record<string, string | undefined>> = sources;
  const figures = new Map(listFigures(tree));
  const names = [...figures.keys()].filter((name) => origins[name] === undefined);
  const equations: Equation[] = [];
  return {
    add(unit, measurement, estimate) {
      const at = (values: Tree) => estimate(values as unknown as Figures<T>);
      const whole = at(tree);
      const slopes = new Map<string, number>();
      for (const name of names) {
        const slope = at(withFigure(tree, name.split("."), (figures.get(name) ?? 0) + 1)) - whole;
        if (slope !== 0) slopes.set(name, slope);
      }
      const explained = [...slopes].reduce((sum, [name, slope]) => sum + slope * (figures.get(name) ?? 0), 0);
      equations.push({ unit, measurement, slopes, rest: whole - explained, estimate: whole });
    },
    print() {
      const fitted = new Map<string, number>();
      for (const unit of new Set(equations.map((each) => each.unit))) {
        const own = equations.filter((each) => each.unit === unit);
        const ratio = median(own.map(({ measurement, estimate }) => measurement / estimate));
        console.log(`\nMeasurements are ${show(ratio)} of the estimates (${unit}, median of ${own.length}).`);
        for (const [name, value] of solve(own, figures, ratio)) fitted.set(name, value);
      }
      console.log(`\n${"figure".padEnd(32)} ${"table".padEnd(8)} fitted`);
      for (const [name, figure] of figures) {
        const value = fitted.get(name);
        const result = value === undefined ? "no row measures it" : show(value);
        console.log(name.padEnd(32), show(figure).padEnd(8), origins[name] ?? result);
      }
    },
  };
}

// The figures, none of them negative, with the smallest squares of relative errors: by coordinate descent.
function solve(
  equations: readonly Equation[],
  figures: ReadonlyMap<string, number>,
  ratio: number,
): ReadonlyMap<string, number> {
  const names = new Set(equations.flatMap(({ slopes }) => [...slopes.keys()]));
  const values = new Map([...names].map((name) => [name, ratio * (figures.get(name) ?? 0)]));
  const errors = equations.map(({ measurement, slopes, rest }) =>
    [...slopes].reduce((sum, [name, slope]) => sum + slope * (values.get(name) ?? 0), rest - measurement),
  );
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const name of names) {
      const value = values.get(name) ?? 0;
      const current = ratio * (figures.get(name) ?? 0) || 1;
      let [numerator, denominator] = [(PULL * (current - value)) / current ** 2, PULL / current ** 2];
      for (const [at, { measurement, slopes }] of equations.entries()) {
        const slope = (slopes.get(name) ?? 0) / measurement;
        numerator -= (slope * (errors[at] as number)) / measurement;
        denominator += slope ** 2;
      }
      const next = Math.max(0, value + numerator / denominator);
      values.set(name, next);
      for (const [at, { slopes }] of equations.entries()) {
        errors[at] = (errors[at] as number) + (slopes.get(name) ?? 0) * (next - value);
      }
    }
  }
  return values;
}

type FigureEngine = Extract<Engine, "native" | "stock" | "fast">;

/** Returns the costs of features per engine, as a part of its table. */
export function featureFigures(engine: FigureEngine) {
  const none = { seconds: 0, memory: 0 };
  const costOf = (still: boolean) => denoise.cost?.({ denoise: { strength: "medium", still, alpha: false } });
  return {
    tone_map: tone_map.cost?.({})[engine] ?? none,
    denoise: costOf(false)?.[engine] ?? none,
    denoise_still: costOf(true)?.[engine] ?? none,
  };
}

/** Returns how far features of a plan cost more than they state, with other figures. */
export function featureDifference(
  parts: readonly Planned[],
  engine: FigureEngine,
  { tone_map: toneMap, denoise: film, denoise_still: still }: Figures<ReturnType<typeof featureFigures>>,
): { seconds: number; memory: number } {
  const measured = parts.map((part) => ({ ...part, pictures: only(part.pictures, ["tone_map", "denoise"]) }));
  const { seconds, memory } = featureCost(measured, engine);
  const costs = measured.flatMap(({ pictures, share }) => {
    const { denoise, tone_map } = pictures as { denoise?: { still: boolean }; tone_map?: boolean };
    const own = [...(tone_map ? [toneMap] : []), ...(denoise ? [denoise.still ? still : film] : [])];
    return own.map((cost) => ({ ...cost, seconds: cost.seconds * share }));
  });
  return {
    seconds: costs.reduce((sum, each) => sum + each.seconds, -seconds),
    memory: costs.reduce((sum, each) => sum + each.memory, -memory),
  };
}

function only(pictures: Planned["pictures"], names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(pictures ?? {}).filter(([name]) => names.includes(name)));
}

function show(value: number | undefined): string {
  return String(Number((value ?? 0).toPrecision(3)));
}

function listFigures(tree: Tree, prefix = ""): [string, number][] {
  return Object.entries(tree).flatMap(([name, value]) =>
    typeof value === "number" ? [[prefix + name, value]] : listFigures(value, `${prefix}${name}.`),
  );
}

function withFigure(tree: Tree, [name = "", ...rest]: readonly string[], value: number): Tree {
  const below = tree[name];
  return { ...tree, [name]: typeof below === "object" ? withFigure(below, rest, value) : value };
}
