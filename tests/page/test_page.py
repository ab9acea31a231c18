"""The page in Chromium, against a real server."""

import base64
import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from orienteer import check_plan
from orienteer.data.files import read, read_plan
from page.browser import DESKTOP, PHONE, Page, check_installed, start_chromium
from servers import Server

TOKEN = "a-token-that-nobody-guesses"
MUNICH = """# limit = 9000
# start = Main station
name,lat,lon,prize
Main station,48.1402,11.5600,0
Frauenkirche,48.1386,11.5734,8
Residenz,48.1411,11.5788,7
Viktualienmarkt,48.1351,11.5763,6
Deutsches Museum,48.1299,11.5834,9
English Garden,48.1524,11.5922,7
Pinakothek,48.1483,11.5700,9
Nymphenburg,48.1583,11.5033,10
Olympiapark,48.1755,11.5518,6
Theresienwiese,48.1314,11.5496,3
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    check_installed()
    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    check_installed()
    downloads = tmp_path_factory.mktemp("downloads")
    driver = start_chromium(downloads)
    yield driver, downloads
    driver.quit()


@pytest.fixture
def page(server: Server, chromium: tuple) -> Iterator[Page]:
    """The page with the example town; no test may leave a complaint in the console."""
    driver, downloads = chromium
    page = Page(driver, server.url, downloads)
    page.loaded(42)
    yield page
    assert page.complaints() == []


def test_a_search_is_seen_to_improve(page: Page) -> None:
    page.run("""window.seen = [];
        new MutationObserver((records) => records.forEach((record) =>
            record.addedNodes.forEach((node) => seen.push(Number(node.data))))
        ).observe(document.getElementById("figure-prize"), {childList: true});""")
    page.solve()
    seen = page.run("return window.seen")
    assert len(set(seen)) > 1
    assert seen == sorted(seen)
    stops = page.stops()
    assert stops[0] == stops[-1] == "Station"
    town = read(Path(__file__).parents[2] / "examples" / "city.csv")
    assert town.names is not None
    prize = sum(town.prizes[town.names.index(name)] for name in set(stops))
    assert float(page.text("#figure-prize")) == prize == seen[-1]
    assert page.text("#figure-cost-of") == "of 8,000"
    assert float(page.text("#figure-bound").replace(",", "")) >= prize
    assert len(page.all("#map .stop:not(.end)")) == len(stops) - 2
    assert len(page.all("#map .arrow")) == len(stops) - 1
    assert len(page.all("#map .place.out")) == 42 - len(set(stops))
    assert "bound" in (page.find("#chart svg").get_attribute("aria-label") or "")


def test_alternatives_differ(page: Page) -> None:
    page.solve()
    best, prize = page.stops(), float(page.text("#figure-prize"))
    page.press("Next plan")
    assert page.text("#flip-text").startswith("Another plan · 2 of")
    assert page.stops() != best
    assert float(page.text("#figure-prize")) <= prize
    page.press("Previous plan")
    assert page.stops() == best


def test_a_place_left_out_is_explained_and_required(page: Page) -> None:
    page.solve()
    out = next(name for name in page.names() if name not in page.stops())
    page.find(f'[aria-label="{out}: not in the plan; why?"]').click()
    page.until(lambda: "It comes closest to fitting" in page.text("#card"), "a reason")
    assert "With it required" in page.text("#card")
    page.press("Require it")
    page.until(lambda: out in page.stops(), f"a plan with {out}")
    page.solved()
    assert page.find(f'[aria-label="Required of {out}"]').is_selected()
    page.press("Undo")
    page.until(lambda: not page.find(f'[aria-label="Required of {out}"]').is_selected(), "undo")
    page.press("Redo")
    assert page.find(f'[aria-label="Required of {out}"]').is_selected()
    page.solved()


def test_a_dropped_file_becomes_a_gpx_file(page: Page, tmp_path: Path) -> None:
    page.drop("munich.csv", MUNICH)
    page.loaded(10)
    assert page.find("#title").get_attribute("value") == "munich"
    page.solve()
    assert 2 < len(page.stops()) < 11
    (tmp_path / "munich.csv").write_text(MUNICH)
    town = read(tmp_path / "munich.csv")
    assert town.names is not None
    for format in ("gpx", "geojson"):
        [route] = read_plan(page.export(format), town)
        assert [town.names[node] for node in route] == page.stops()
        assert check_plan(town, [route]).prize == float(page.text("#figure-prize"))


WAYPOINTS = """<gpx version="1.1" creator="a device" xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="urn:x">
<wpt lat="48.1402" lon="11.56"><name>Main station</name><extensions><x:prize>0</x:prize></extensions></wpt>
<wpt lat="48.1386" lon="11.5734"><name>Frauenkirche</name><extensions><x:group>church</x:group></extensions></wpt>
<wpt lat="48.135" lon="11.5762"><name>St. Peter</name><extensions><x:group>church</x:group></extensions></wpt>
<wpt lat="48.1524" lon="11.5922"><name>English Garden</name><extensions><x:prize>7</x:prize></extensions></wpt>
</gpx>"""


def test_a_gpx_file_goes_in_and_comes_out(page: Page) -> None:
    """It has no limit, so the page proposes one; its groups keep their names; a plan's file says what it lacks."""
    page.drop("munich.gpx", WAYPOINTS)
    page.loaded(4)
    page.until(lambda: "The file has no limit" in page.text("#news"), "a proposal")
    assert float(page.find("#limit").get_attribute("value") or 0) > 0
    groups = [box.get_attribute("value") for box in page.all("#places-body .group")]
    assert groups == ["", "church", "church", ""]
    page.find("#limit").send_keys(Keys.CONTROL, "a")
    page.find("#limit").send_keys("20000", Keys.TAB)
    page.solve()
    stops = page.stops()
    assert len(stops) == 4, "one of the churches, the garden, and the way back"
    [church] = {"Frauenkirche", "St. Peter"} - set(stops)
    page.find(f'[aria-label="{church}: not in the plan; why?"]').click()
    page.until(lambda: "another place of its group “church” is in the plan" in page.text("#card"), "a reason")
    page.drop("plan.gpx", page.export("gpx").read_text())
    page.until(lambda: "plan.gpx holds a plan, so only" in page.text("#news").replace(":", ""), "a warning")
    assert page.names() == ["Main station", "Frauenkirche", "St. Peter", "English Garden"]


def test_a_plan_never_gets_worse(page: Page) -> None:
    """A search after a change begins with the plan from before, so no worse one is shown even for a moment."""
    page.solve()
    prize, stops = float(page.text("#figure-prize")), page.stops()
    page.run("""window.seen = [];
        new MutationObserver((records) => records.forEach((record) =>
            record.addedNodes.forEach((node) => seen.push(Number(node.data))))
        ).observe(document.getElementById("figure-prize"), {childList: true});""")
    page.find("#limit").send_keys(Keys.CONTROL, "a")
    page.find("#limit").send_keys("8010", Keys.TAB)
    assert page.all("#result.stale")
    page.until(lambda: page.is_done() and not page.all("#result.stale"), "a plan for the new limit")
    assert min(page.run("return window.seen"), default=0) >= prize
    gone = stops[1]
    page.find(f'[aria-label="Delete {gone}"]').click()
    page.loaded(41)
    page.until(lambda: page.is_done() and not page.all("#result.stale"), "a plan without it")
    assert gone not in page.stops()


def test_exports(page: Page) -> None:
    page.solve()
    stops = page.stops()
    with page.export("csv").open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == stops
    plan = json.loads(page.export("json").read_text())
    assert plan["routes"][0]["names"] == stops
    assert page.export("png").read_bytes().startswith(b"\x89PNG")
    paper = page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(paper).startswith(b"%PDF")
    assert page.run("return document.querySelector('#paper canvas').width") > 0
    problem = page.export("problem", ".json")
    assert len(json.loads(problem.read_text())["places"]) == 42
    page.find("#file").send_keys(str(problem))
    page.until(lambda: "42 places read" in page.text("#news"), "the file, opened again")


def test_a_bad_file_is_refused_by_its_line(page: Page) -> None:
    page.drop("bad.csv", "name,x,y,prize\na,0,zero,1\n")
    page.until(lambda: "bad.csv:2" in page.text("#error"), "an error")
    assert page.text("#place-count") == "42"
    [complaint] = page.complaints()  # the browser itself notes the answer 400
    assert "v1/read" in complaint


def test_places_by_click_and_by_table(page: Page) -> None:
    page.press("New")
    page.press("Empty plane (x, y)")
    page.loaded(0)
    assert page.find("#add").get_attribute("aria-pressed") == "true"
    page.find("#map").click()
    page.loaded(1)
    page.press("Add a place")
    page.loaded(2)
    box = page.driver.switch_to.active_element
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("Lake", Keys.TAB)
    assert page.names() == ["Start", "Lake"]
    for field, value in (("X", "300"), ("Y", "400"), ("Prize", "7")):
        box = page.find(f'[aria-label="{field} of Lake"]')
        box.clear()
        box.send_keys(value, Keys.TAB)
    page.find("body").send_keys(Keys.CONTROL, Keys.ENTER)
    page.solved()
    assert page.stops() == ["Start", "Lake", "Start"]
    page.driver.refresh()
    page.loaded(2)
    assert page.names() == ["Start", "Lake"], "the address keeps the problem"


def test_the_slider_solves_again(page: Page) -> None:
    page.solve()
    prize = float(page.text("#figure-prize"))
    slider = page.find("#limit-slider")
    for _ in range(5):
        slider.send_keys(Keys.ARROW_LEFT)
    assert float(page.find("#limit").get_attribute("value") or 0) < 8000
    page.until(lambda: page.is_done() and float(page.text("#figure-prize")) < prize, "a smaller plan")
    page.press("Undo")
    assert page.find("#limit").get_attribute("value") == "8000"
    page.solved()


def test_a_day_with_hours_and_several_routes(page: Page) -> None:
    page.press("New")
    page.press("Example: a day with opening hours")
    page.loaded(28)
    page.press("Routes, costs and search")
    page.find("#routes").send_keys(Keys.CONTROL, "a")
    page.find("#routes").send_keys("2", Keys.TAB)
    page.solve()
    assert len(page.all("#timetable table")) == 2
    assert "09:00" in page.text("#timetable tbody tr")
    page.choose("#seconds", "30 seconds")
    page.find("#bound").click()
    page.find("#solve").click()
    page.until(lambda: page.text("#news").startswith("The best plan, proven"), "a proof without a wish for a bound")
    assert len(page.all("#timetable table")) == 2


def test_a_search_that_begins_with_the_best_plan(page: Page) -> None:
    """Its first news is its last: it was once held back for ever."""
    page.solve()
    page.press("Routes, costs and search")
    page.choose("#seconds", "30 seconds")
    page.find("#bound").click()
    page.find("#solve").click()
    page.until(lambda: page.text("#news").startswith("Searching: prize"), "news of a search")
    page.press("Stop")
    page.solved()


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_axe_finds_nothing_serious(page: Page, size: tuple[int, int], scheme: str) -> None:
    page.look(size, scheme)
    assert page.faults() == []
    page.run("document.querySelector('.more').open = true")
    page.find("#own-routes").click()
    page.solve()
    out = next(name for name in page.names() if name not in page.stops())
    page.run("arguments[0].click()", page.find(f'[aria-label="{out}: not in the plan; why?"]'))
    page.until(lambda: "It comes closest to fitting" in page.text("#card"), "a reason")
    page.run("document.querySelector('#export').open = true")
    assert page.faults() == []
    if size == PHONE:
        assert page.run("return document.documentElement.scrollWidth") == PHONE[0]


def test_a_token_is_asked_for_and_tiles_name_their_owner(chromium: tuple, tmp_path: Path) -> None:
    driver, downloads = chromium
    tiles = {"tiles_url": "https://tiles.invalid/{z}/{x}/{y}.png", "tiles_attribution": "Made by nobody"}
    with Server(tmp_path, token=TOKEN, **tiles) as server:
        page = Page(driver, server.url, downloads)
        page.until(lambda: page.find("#token").is_displayed(), "a dialog")
        page.find("#token-text").send_keys("wrong", Keys.ENTER)
        page.until(lambda: page.find("#token-wrong").is_displayed(), "a refusal")
        page.find("#token-text").send_keys(TOKEN, Keys.ENTER)
        page.loaded(42)
        page.solve()
        page.press("New")
        page.press("Empty map")
        assert "Made by nobody" in page.text("#map .leaflet-control-attribution")
        assert page.run("return document.querySelector('#map img').src").startswith("https://tiles.invalid/")
        for complaint in page.complaints():  # of the browser, about answers
            assert "401" in complaint or "tiles.invalid" in complaint
