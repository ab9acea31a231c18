import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../src/history";
import { gapOf, hintOf, type Plan } from "../src/outcome";
import { addPlace, changePlace, EMPTY, fromJson, hoursText, niceCeil, removePlace, terminals, toJson, withLimit, type Json } from "../src/problem";
import { fromHash, toHash } from "../src/share";
import { EventParser } from "../src/sse";
import { whyNot } from "../src/words";

const TOWN: Json = {
  comment: "Town",
  places: [
    { name: "Hotel", lat: 48.1, lon: 11.5, prize: 0, windows: "09:00-18:00", weights: { fee: 0 } },
    { name: "Museum", lat: 48.2, lon: 11.6, prize: 5, service: 90, windows: "10:00-12:00;14:00-17:00", required: true, weights: { fee: 12 } },
    { name: "Inn", lat: 48.15, lon: 11.4, prize: 1, service: "1:30", group: "lunch" },
    { name: "Hostel", lat: 48.3, lon: 11.7, prize: 0, avoid: true },
  ],
  start: 0,
  end: 3,
  limit: 300,
  speed: 75,
  routes: [{ name: "Friday", opens: "13:00", closes: "20:00" }, { start: 3, end: 0 }],
  budgets: { fee: 20 },
};

test("a problem comes back from its JSON", () => {
  assert.deepEqual(toJson(fromJson(TOWN)), TOWN);
});

test("an end at the start is no end of its own", () => {
  assert.equal(fromJson({ places: TOWN.places as Json[], start: 1, end: 1 }).end, "start");
});

test("windows become the text that a person would write", () => {
  assert.equal(hoursText([[540, 720], [840, null]]), "540-720;840-");
  assert.equal(hoursText([540, 720]), "540-720");
  assert.equal(hoursText("09:00-12:00"), "09:00-12:00");
  assert.equal(hoursText(undefined), "");
});

test("places removed take their costs and ends with them", () => {
  const problem = { ...fromJson(TOWN), costs: [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [1, 2, 3, 0]] };
  const hostel = problem.places[3]!.id;
  const left = removePlace(problem, hostel);
  assert.deepEqual(left.costs, [[0, 1, 2], [4, 0, 5], [7, 8, 0]]);
  assert.equal(left.end, "start");
  assert.deepEqual(removePlace(problem, problem.places[1]!.id).costs, [[0, 2, 3], [7, 0, 9], [1, 3, 0]]);
});

test("added places have names of their own, and the first is the start", () => {
  let problem = EMPTY;
  for (let i = 0; i < 3; i += 1) problem = addPlace(problem, i, 2 * i);
  problem = changePlace(problem, problem.places[2]!.id, { name: "Place 3" });
  problem = addPlace(problem, 9, 9);
  assert.deepEqual(problem.places.map((place) => place.name), ["Start", "Place 1", "Place 3", "Place 4"]);
  assert.deepEqual([...terminals(problem)], [problem.places[0]!.id]);
});

test("routes of their own have terminals of their own", () => {
  const problem = fromJson(TOWN);
  assert.deepEqual([...terminals(problem)].sort(), [problem.places[0]!.id, problem.places[3]!.id].sort());
});

test("undo and redo, and edits of one kind together", () => {
  let time = 0;
  const history = new History(0, () => time);
  history.set(1);
  history.set(2, "limit");
  time += 100;
  history.set(3, "limit");
  time += 5000;
  history.set(4, "limit");
  assert.deepEqual([history.undo(), history.value], [true, 3]);
  assert.deepEqual([history.undo(), history.value], [true, 1]);
  assert.deepEqual([history.redo(), history.value], [true, 3]);
  history.set(9);
  assert.equal(history.canRedo, false);
});

test("events arrive whole, however the stream is cut", () => {
  const stream = ': awake\n\nid: 1\nevent: improvement\ndata: {"prize": 3}\n\nid: 2\nevent: end\ndata: {"a":\ndata: 1}\n\n';
  const wanted = [
    { id: "1", event: "improvement", data: '{"prize": 3}' },
    { id: "2", event: "end", data: '{"a":\n1}' },
  ];
  for (const text of [stream, stream.replaceAll("\n", "\r\n")]) {
    for (let size = 1; size < 12; size += 1) {
      const parser = new EventParser();
      const found = [];
      for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
      assert.deepEqual(found, wanted);
    }
  }
});

test("an address keeps a problem, unless it is too large", async () => {
  const hash = await toHash(TOWN);
  assert.ok(hash !== null && /^#p=[\w-]+$/.test(hash));
  assert.deepEqual(await fromHash(hash), TOWN);
  assert.equal(await fromHash(""), null);
  await assert.rejects(fromHash(hash.slice(0, 60)));
  assert.equal(await toHash(Array.from({ length: 40_000 }, () => Math.random())), null);
});

test("the gap is a share of the bound", () => {
  assert.equal(gapOf(90, 100), 0.1);
  assert.equal(gapOf(0, 0), 0);
  assert.equal(gapOf(5, null), null);
});

test("sliders end at round numbers", () => {
  assert.deepEqual([7, 10, 11, 16000, 0.3].map(niceCeil), [8, 10, 20, 20000, 0.3]);
});

test("a plan outlives changes of its problem", () => {
  const problem = fromJson(TOWN);
  const ids = problem.places.map((place) => place.id);
  const stops = [0, 2, 1, 3].map((node) => ({ place: ids[node]!, times: null }));
  const plan: Plan = { prize: 6, cost: 1, routes: [{ name: "", prize: 6, cost: 1, stops }] };
  assert.deepEqual(hintOf(problem, plan), [[0, 2, 1]]); // the hostel is avoided
  assert.deepEqual(hintOf(removePlace(problem, ids[1]!), plan), [[0, 1]]);
});

test("a problem without a limit gets one, unless hours set it", () => {
  const places = [{ name: "a", x: 0, y: 0 }, { name: "b", x: 300, y: 400 }];
  const plain = fromJson({ places });
  assert.ok((withLimit(plain).limit ?? 0) > 0);
  for (const data of [{ places, limit: 7 }, { places: [{ ...places[0], windows: "09:00-18:00" }, places[1]!] }, { places, routes: [{ closes: "18:00" }] }]) {
    const problem = fromJson(data);
    assert.equal(withLimit(problem), problem);
  }
});

test("the name of a group is told", () => {
  const found = { node: 2, prize: 1, before: 0, after: 1, detour: 1, slack: 1, reason: "group", excess: null, broken: [] };
  assert.match(whyNot(found, fromJson(TOWN), 5)[0] ?? "", /another place of its group “lunch” is in the plan/);
});
