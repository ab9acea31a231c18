"""CSV files with visit times, opening hours, required places, groups, budgets and routes."""

import re
from pathlib import Path

import pytest

from orienteer import BadFile, Budget, Instance, Route
from orienteer.data import files

DAY = """# budget:fee = 20
name,x,y,prize,duration,required,opens,closes,group,fee
hotel,0,0,0,,,09:00,18:00,,
museum,10,0,5,90,yes,10:00-12:00;14:00-17:00,,,12
castle,10,20,3,0:45,no,,16:30,,9
inn,0,20,1,60,,11:30,13:30,lunch,
cafe,5,5,1,1:00,,11:00,,lunch; coffee,
bar,5,6,1,30,,,,coffee,
hostel,0,25,0,,,12:00,13:30,,
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "day.csv"


def parsed(path: Path, text: str, **options: object) -> Instance:
    path.write_text(text)
    return files.read(path, **options)


def test_a_day(path: Path) -> None:
    day = parsed(path, DAY)
    assert day.routes == (Route(0, 0, 540, 540),)
    assert day.service is not None
    assert day.service.tolist() == [0, 90, 45, 60, 60, 30, 0]
    assert day.required == (1,)
    assert day.windows == (
        None,
        ((600, 720), (840, 1020)),
        ((0, 990),),
        ((690, 810),),
        ((660, 1440),),
        None,
        ((720, 810),),
    )
    assert day.groups == ((3, 4), (4, 5))
    assert day.budgets == (Budget("fee", [0, 12, 9, 0, 0, 0, 0], 20),)
    assert day.clock == "minutes"


def test_units(path: Path) -> None:
    hours = parsed(
        path, DAY.replace("90,", "1.5,").replace(",60,", ",1:00,").replace(",30,", ",0:30,"), unit="hours", speed=60
    )
    assert hours.routes == (Route(0, 0, 9, 9),)
    assert hours.service is not None
    assert hours.service.tolist() == [0, 1.5, 0.75, 1, 1, 0.5, 0]
    assert hours.clock == "hours"
    assert parsed(path, "# unit = seconds\n" + DAY).routes == (Route(0, 0, 32400, 32400),)


def test_numbers_are_no_times_of_day(path: Path) -> None:
    text = "x,y,prize,opens,closes,windows\n0,0,0,5,60,\n1,0,2,,,10-20;-5-7.5\n2,0,1,30,,\n3,0,1,,40,\n"
    problem = parsed(path, text)
    assert problem.routes == (Route(0, 0, 5, 55),)
    infinity = float("inf")
    assert problem.windows == (None, ((-5, 7.5), (10, 20)), ((30, infinity),), ((-infinity, 40),))
    assert problem.clock is None


def test_a_limit_stands_above_the_closing_time_of_the_start(path: Path) -> None:
    assert parsed(path, DAY, limit=200).routes == (Route(0, 0, 540, 200),)
    assert parsed(path, "# limit = 3:20\n" + DAY).routes == (Route(0, 0, 540, 200),)


def test_the_end_closes_a_route(path: Path) -> None:
    open_start = DAY.replace("09:00,18:00", "09:00,")
    assert parsed(path, open_start, end="hostel").routes == (Route(0, 6, 540, 270),)


def test_windows_hold_on_the_days_of_all_routes(path: Path) -> None:
    days = path.with_name("days.csv")
    days.write_text("name,start,end,opens,limit\nFriday,hotel,hostel,,\nSaturday,hostel,hotel,day 2 10:00,4:00\n")
    trip = parsed(path, DAY, routes=days)
    assert trip.routes == (Route(0, 6, 540, 270), Route(6, 0, 2040, 240))
    assert [route.name for route in trip.each_route] == ["Friday", "Saturday"]
    assert trip.windows is not None
    assert trip.windows[1] == ((600, 720), (840, 1020), (2040, 2160), (2280, 2460))
    assert trip.windows[6] is None
    only = DAY.replace("10:00-12:00;14:00-17:00", "10:00-12:00;day 2 14:00-17:00")
    assert parsed(path, only, routes=days).windows[1] == ((600, 720), (2040, 2160), (2280, 2460))
    assert parsed(path, "# routes = days.csv\n" + DAY) == trip
    assert len(parsed(path, "# routes = 3\n" + DAY).each_route) == 3


def test_a_table_of_shifts(path: Path) -> None:
    """A shift may end at a time, and may end anywhere; what a cell leaves open is the problem's."""
    shifts = path.with_name("shifts.csv")
    shifts.write_text("Name;opens;closes;free end\nAnna;08:00;12:30;\nBen;;;yes\n")
    team = parsed(path, DAY, routes=shifts)
    assert team.routes == (Route(0, 0, 480, 270), Route(0, None, 540, 540))
    plain = parsed(path, "# limit = 60\nx,y,prize\n0,0,0\n1,1,1\n", routes=shifts)
    assert (plain.routes, plain.clock) == ((Route(0, 0, 480, 270), Route(0, None, 0, 60)), "minutes")


def test_budgets_of_columns(path: Path) -> None:
    text = "x,y,prize,Budget: museums ,stars\n0,0,0,,0\n1,0,2,x,3\n2,0,1,yes,1.5\n"
    problem = parsed(path, f"# limit = 9\n# Budget: Museums = 1\n{text}", budgets={"Stars": 4})
    assert problem.budgets == (Budget("Museums", [0, 1, 1], 1), Budget("Stars", [0, 3, 1.5], 4))
    assert parsed(path, f"# limit = 9\n# budget:museums = 1\n{text}", budgets={"museums": 2}).budgets[0].most == 2


def test_speed_turns_distances_into_times(path: Path) -> None:
    assert parsed(path, "# speed = 4\n# limit = 9\nx,y,prize\n0,0,0\n3,4,1\n").costs[0, 1] == 1.25
    earth = "name,lat,lon,prize,opens,closes\na,50,8,0,09:00,18:00\nb,50.01,8,1,,\n"
    assert parsed(path, earth, speed=80).costs[0, 1] == pytest.approx(13.9, abs=0.1)
    with pytest.raises(
        BadFile,
        match="times of day need costs in minutes, but lat and lon give metres: give a speed in metres a minute",
    ):
        parsed(path, earth)


def test_free_ends(path: Path) -> None:
    text = "x,y,prize\n0,0,0\n1,1,1\n"
    assert parsed(path, f"# limit = 3\n# free_end = yes\n{text}").end is None
    assert parsed(path, text, limit=3, free_end=True).end is None
    assert parsed(path, f"# free_end = yes\n{text}", limit=3, end=1).end == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("90,yes", "-1,yes", 4, "duration must not be negative, got '-1'"),
        (
            "castle,10,20,3,",
            'castle,10,20,"1,5",',
            5,
            "prize must be a number, got '1,5'; write 1.5: a comma is read so",
        ),
        ("castle,10,20,", "castle,,20,", 5, "x must be a number, but the cell is empty"),
        ("11:30,13:30", "11:30,12", 6, "closes at 12, before it opens at 11:30; times have a colon, as in 12:00"),
        ("11:30,13:30", "11:30,12.3", 6, "closes at 12.3, before it opens at 11:30; times have a colon, as in 12:30"),
        ("inn,0,20", "castle,0,20", 6, "the name 'castle' appears again, first on line 5: all names must differ"),
        ("90,yes", "long,yes", 4, "duration must be a number or hours and minutes such as 1:30, got 'long'"),
        ("90,yes", "90,maybe", 4, "required must be yes or no, got 'maybe'"),
        ("10:00-12:00", "10:00-12:60", 4, "closes must be a time of day, got '12:60'"),
        ("10:00-12:00", "12:00-10:00", 4, "a window closes at 10:00, before it opens at 12:00; past midnight"),
        ("10:00-12:00;", "10:00;", 4, "a window must be like 09:00-12:00 or 540-720, got '10:00'"),
        (",12\n", ",free\n", 4, "budget fee must be a number, got 'free'"),
        (
            "# budget:fee = 20",
            "# budget:fees = 20",
            None,
            "the budget 'fees' needs a column of this name; did you mean 'fee'?",
        ),
        (
            ",fee\n",
            ",budget:toll\n",
            None,
            "the budget 'toll' has no limit; a line '# budget:toll = 20' above the table",
        ),
        (
            "# budget:fee = 20",
            "# unit = minute",
            1,
            "must be one of seconds, minutes, hours, got 'minute'; did you mean 'minutes'",
        ),
        ("# budget:fee = 20", "# free_end = perhaps", 1, "free_end must be yes or no"),
        ("# budget:fee = 20", "# speed = 0", None, "speed must be above 0, got 0"),
        ("17:00,,,12", "17:00,18:00,,12", 4, "in one column, or in opens and closes, not in both"),
    ],
)
def test_errors_name_the_line(path: Path, old: str, new: str, line: int | None, message: str) -> None:
    assert old in DAY
    with pytest.raises(BadFile) as caught:
        parsed(path, DAY.replace(old, new))
    assert message in caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,begin\nA,1\n", "has no column 'begin'; columns are name, start"),
        ("name,opens\n", "the table has no route"),
        ("name,opens\nA\n", "a row must have 2 cells like the header, got 1"),
        ("name,name\nA,B\n", "the header names name twice"),
        ("", "there is no table in it"),
        ("start,opens\nhotle,1\n", "no place is called 'hotle'; did you mean 'hotel'?"),
        ("opens\nsoon\n", "opens must be a number or a time such as 09:30, got 'soon'"),
    ],
)
def test_errors_in_a_table_of_routes(path: Path, text: str, message: str) -> None:
    routes = path.with_name("routes.csv")
    routes.write_text(text)
    with pytest.raises(BadFile) as caught:
        parsed(path, DAY, routes=routes)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "line", "wish"),
    [
        (",11:30,13:30,lunch", ",11.30,13.45,lunch", 6, "opens must be a number or a time such as 09:30, got '11.30'"),
        (",,16:30,", ",,9.05,", 5, "closes must be a number or a time such as 09:30, got '9.05'"),
        ("14:00-17:00", "14.00-17.00", 4, "opens must be a number or a time such as 09:30, got '14.00'"),
    ],
)
def test_a_dot_among_times_of_day_is_refused(path: Path, old: str, new: str, line: int, wish: str) -> None:
    """An inn with 11.30 and 13.45 was open from 00:11 to 00:13, and never chosen."""
    with pytest.raises(BadFile, match=f"{re.escape(wish)}: times have a colon, as in ") as caught:
        parsed(path, DAY.replace(old, new))
    assert caught.value.line == line
    with pytest.raises(BadFile, match=r"closes at 13\.45, before it opens at 11:30; times have a colon, as in 13:45"):
        parsed(path, DAY.replace("11:30,13:30", "11:30,13.45"))


def test_a_dot_is_refused_where_only_the_other_table_has_times_of_day(path: Path) -> None:
    routes = path.with_name("routes.csv")
    routes.write_text("opens,closes\n9.00,18.00\n")
    with pytest.raises(BadFile, match=r"routes.csv:2: opens .* got '9.00': times have a colon, as in 9:00"):
        parsed(path, DAY, routes=routes)
    routes.write_text("opens,closes\n09:00,18:00\n")
    with pytest.raises(BadFile, match=r"day.csv:2: opens .* got '9.00'"):
        parsed(path, "x,y,prize,opens,closes\n0,0,0,9.00,18.00\n3,4,1,,\n", routes=routes)


@pytest.mark.parametrize(
    ("hours", "warns"),
    [(("9.00,18.00", "11.30,13.45"), True), (("9.00,18.00", "11.3,"), False), (("0,900", "540,"), False)],
)
def test_hours_that_all_look_like_times_with_a_dot_are_numbers_with_a_warning(
    path: Path, caplog: pytest.LogCaptureFixture, hours: tuple[str, str], warns: bool
) -> None:
    day = parsed(path, f"x,y,prize,opens,closes\n0,0,0,{hours[0]}\n3,4,1,{hours[1]}\n")
    assert day.clock is None
    opens, closes = map(float, hours[0].split(","))
    assert day.routes == (Route(0, 0, opens, closes - opens),) if opens else day.limit == closes
    told = "opens '9.00' is read as a number: times have a colon, as in 9:00"
    assert (told in caplog.text) == warns
    caplog.clear()
    parsed(path, f"# clock = hours\nx,y,prize,opens,closes\n0,0,0,{hours[0]}\n3,4,1,{hours[1]}\n")
    assert caplog.text == ""  # who names the clock knows that they are numbers


@pytest.mark.parametrize("unit", ["minutes", "seconds", "hours"])
def test_a_limit_that_is_asked_for_may_be_a_time_as_that_of_the_file(path: Path, unit: str) -> None:
    """The option --limit took numbers alone, though a file may say `# limit = 4:00`."""
    text = "name,x,y,prize\nhotel,0,0,0\nmuseum,1,0,5\n"
    own = parsed(path, f"# limit = 4:00\n# unit = {unit}\n{text}")
    assert parsed(path, f"# limit = 9\n# unit = {unit}\n{text}", limit="4:00").limit == own.limit
    assert own.limit == {"minutes": 240, "seconds": 14400, "hours": 4}[unit]


def test_a_limit_in_hours_needs_costs_that_are_times(path: Path) -> None:
    with pytest.raises(BadFile, match="times of day need costs in minutes, but lat and lon give metres"):
        parsed(path, "lat,lon,prize\n50,8,0\n50,8.1,1\n", limit="4:00")
    chao = path.with_suffix(".txt")
    chao.write_text("9 1\n0 0 0\n1 1 0\n")
    with pytest.raises(BadFile, match="limit must be a number, since costs of such a file are no times, got '4:00'"):
        files.read(chao, limit="4:00")


def test_a_route_without_time_is_named(path: Path) -> None:
    """A day that closed when it opened was told as `routes[1].limit`, which no table has, without file and line."""
    routes = path.with_name("routes.csv")
    routes.write_text("name,opens,closes\nSaturday,09:00,18:00\nSunday,day 2 09:00,day 2 09:00\n")
    told = "routes.csv:3: closes must be after day 2 09:00, when the route 'Sunday' opens, got day 2 09:00"
    with pytest.raises(BadFile, match=re.escape(told)):
        parsed(path, DAY, routes=routes)
    routes.write_text("name,start\nSaturday,Hotle\n")
    with pytest.raises(BadFile, match=r"routes.csv:2: start: no place is called 'Hotle'; did you mean 'hotel'"):
        parsed(path, DAY, routes=routes)
    routes.write_text("name,opens\nSaturday,09:00\n")
    told = "routes.csv:2: the route has neither closes nor a limit, and the problem has no limit"
    with pytest.raises(BadFile, match=told):
        parsed(path, "x,y,prize\n0,0,0\n3,4,1\n", routes=routes)
    with pytest.raises(BadFile, match="closes of the start or the end must be after 9, when the route opens, got 9"):
        parsed(path, "x,y,prize,opens,closes\n0,0,0,9,9\n3,4,1,,\n")
